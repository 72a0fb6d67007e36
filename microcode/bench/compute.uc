; compute.uc - arithmetic without memory, for measuring how fast an engine executes instructions.
;
; What it does: adds the bytes, halves and rotations of a counter into a ones'-complement-like sum, 64 rounds a turn, then gives the
; microengine to the next thread. It never ends, touches no unit and sends no signal.
;
; Per round: 13 instructions, one of them a taken branch; per turn of 64 rounds 4 more, one of them a context swap.
; Runs on all microengines and all eight threads.

.num_contexts 8

.begin
    .reg sum word part rounds

    immed[sum, 0]
    immed[word, 0x1234]

turn#:
    immed[rounds, 64]
round#:
    alu[word, word, +, 7]
    alu_shf[part, --, B, word, >>16]
    alu[sum, sum, +, part]
    alu[sum, sum, +carry, 0]
    alu_shf[part, word, AND, sum, <<8]
    ld_field[part, 0011, sum]
    alu[sum, sum, XOR, part]
    alu_shf[word, word, OR, sum, <<rot5]
    alu[--, sum, -, word]
    bmi[negative#]
    alu[sum, sum, +, 1]
negative#:
    alu[rounds, rounds, -, 1]
    bne[round#]
    ctx_arb[voluntary]
    br[turn#]
.end
