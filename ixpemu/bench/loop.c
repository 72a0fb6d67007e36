/* The private loop of the engine in C, for one question: how fast could it be? Not part of the emulator.
 *
 * Reads the decoded records of a program (one line of numbers an instruction, written by ixpemu/bench/peers.py), runs them on eight
 * microengines of eight threads for a number of cycles, and prints instructions, seconds and a sum of all registers, by which the
 * caller sees that it has computed the same. It knows the instructions of microcode/bench/compute.uc and no other; it has the
 * engine's accounting of cycles, its order of microengines and its look-ahead, and nothing of events, units and packets.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ADD, ADD_CARRY, SUB, XOR, SHF_B, SHF_AND, SHF_OR, MERGE, IMMED, BMI, BNE, BR, YIELD };
enum { FILE_WORDS = 2304, THREADS = 8, ENGINES = 8, STORE = 4096 };

typedef struct {
    uint8_t op, a_window, b_window, d_window, amount, abort, early;
    uint16_t a, b, d, target;
    uint32_t mask, imm;
} record;

typedef struct {
    uint32_t file[FILE_WORDS];
    uint64_t clock, aborted, retired, cc_time;
    uint32_t context, cc_result, cc_v, cc_c, previous_a, previous_alu;
    uint32_t pc[THREADS], instructions[THREADS], aborts[THREADS];
} engine;

static record code[STORE];
static engine engines[ENGINES];

static inline uint32_t rotate(uint32_t value, uint32_t amount) {
    return value >> (amount & 31) | value << (-amount & 31);
}

/* Runs one microengine to `horizon` or up to the end of its thread's turn. */
static void run(engine *e, uint64_t horizon) {
    uint32_t ctx = e->context, window = ctx << 4, pc = e->pc[ctx];
    uint64_t clock = e->clock, start = clock, squashed = e->aborted;
    int yielded = 0;
    while (clock < horizon) {
        const record *i = &code[pc];
        uint32_t a = e->file[i->a + (i->a_window & window)], b = e->file[i->b + (i->b_window & window)];
        uint32_t d = i->d + (i->d_window & window), r;
        uint64_t wide;
        int taken;
        pc = (pc + 1) & (STORE - 1);
        clock++;
        switch (i->op) {
        case ADD:
            r = a + b; e->cc_c = r < a; e->cc_v = (~(a ^ b) & (a ^ r)) >> 31; goto flags;
        case ADD_CARRY:
            wide = (uint64_t)a + b + e->cc_c; r = (uint32_t)wide; e->cc_c = (uint32_t)(wide >> 32); e->cc_v = (~(a ^ b) & (a ^ r)) >> 31;
            goto flags;
        case SUB:
            r = a - b; e->cc_c = a >= b; e->cc_v = ((a ^ b) & (a ^ r)) >> 31; goto flags;
        case XOR:
            r = a ^ b; e->cc_c = e->cc_v = 0; e->previous_a = a; goto flags;
        case SHF_B:
            r = rotate(b, i->amount) & i->mask; e->cc_c = e->cc_v = 0; e->previous_a = a; goto flags;
        case SHF_AND:
            r = a & rotate(b, i->amount) & i->mask; e->cc_c = e->cc_v = 0; e->previous_a = a; goto flags;
        case SHF_OR:
            r = a | (rotate(b, i->amount) & i->mask); e->cc_c = e->cc_v = 0; e->previous_a = a;
        flags:
            e->cc_result = r; e->cc_time = clock; e->file[d] = r; e->previous_alu = r;
            break;
        case MERGE:
            r = (a & ~i->imm) | (rotate(b, i->amount) & i->mask & i->imm); e->file[d] = r; e->previous_alu = r;
            break;
        case IMMED:
            e->file[d] = i->imm; e->previous_alu = i->imm;
            break;
        case BMI: taken = e->cc_result >> 31; goto branch;
        case BNE: taken = e->cc_result != 0; goto branch;
        case BR: taken = 1;
        branch:
            if (taken) {
                uint64_t lost = e->cc_time + 1 != clock ? i->early : i->abort;
                pc = i->target; clock += lost; e->aborted += lost;
            }
            break;
        default:                                        /* ctx_arb[voluntary] */
            clock += i->abort; e->aborted += i->abort; yielded = 1;
            goto out;
        }
    }
out:;
    uint32_t lost = (uint32_t)(e->aborted - squashed), executed = (uint32_t)(clock - start) - lost;
    e->pc[ctx] = pc; e->clock = clock; e->retired += executed; e->instructions[ctx] += executed; e->aborts[ctx] += lost;
    if (yielded) e->context = (ctx + 1) & (THREADS - 1);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    uint64_t cycles = strtoull(arguments[2], NULL, 10), ahead = strtoull(arguments[3], NULL, 10);
    FILE *records = fopen(arguments[1], "r");
    if (!records) return 2;
    unsigned v[13];
    for (int at = 0; fscanf(records, "%u %u %u %u %u %u %u %u %u %u %u %u %u", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8,
                            v + 9, v + 10, v + 11, v + 12) == 13 && at < STORE; at++)
        code[at] = (record){ v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12] };
    fclose(records);
    for (int m = 0; m < ENGINES; m++) {
        engines[m].clock = strtoull(arguments[4], NULL, 10);    /* its first thread wakes up */
        for (int k = 0; k < 256; k++) engines[m].file[1920 + k] = k;
    }
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (;;) {
        engine *next = &engines[0];
        for (int m = 1; m < ENGINES; m++)
            if (engines[m].clock < next->clock) next = &engines[m];
        if (next->clock >= cycles) break;
        uint64_t horizon = next->clock + ahead;
        run(next, horizon < cycles ? horizon : cycles);
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    uint64_t executed = 0;
    uint32_t sum = 0;
    for (int m = 0; m < ENGINES; m++) {
        executed += engines[m].retired;
        for (int k = 0; k < 256; k++) sum = (sum * 31) + engines[m].file[k];
    }
    printf("%llu %.9f %u\n", (unsigned long long)executed,
           (after.tv_sec - before.tv_sec) + (after.tv_nsec - before.tv_nsec) * 1e-9, sum);
    return 0;
}
