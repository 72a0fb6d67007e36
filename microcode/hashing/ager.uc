; ager.uc: gives deleted entries back, and deletes flows that nobody has asked for. One microengine.
;
;   context 0   takes an entry off DELETED_RING, waits until GRACE_TIME after its deletion, and puts it on the free list. The ring keeps the
;               order of deletions, nearly, so that waiting for one holds up nobody.
;   context 1   looks at one entry after the other, round and round; a flow that was not asked for in longer than the word at LONGEST_IDLE
;               says goes the way of all deleted ones. With 0 there it only waits.

#include "flow_table.uc"

.num_contexts 8

.reg flow_source flow_destination flow_ports flow_protocol
.reg entry value chain link table locks mask now
.reg read $found[7]
.reg write $new[7]
.xfer_order $found
.xfer_order $new
.sig flow_done flow_touched

.reg free_entries zero grace age place left longest settings
.reg read $deleted

    flow_setup()
    free_list(free_entries, 0, FREE_QUEUE)
    immed[zero, 0]
    immed[grace, GRACE_TIME]
    immed[settings, LONGEST_IDLE]
    br=ctx[0, give_back#]
    br=ctx[1, sweep#]
    ctx_arb[kill]

; ---- context 0

give_back#:
    scratch[get, $deleted, zero, (DELETED_RING << 2), 1], ctx_swap[flow_done]
    alu[entry, --, B, $deleted]
    beq[give_back#]
    sram[read, $found[0], entry, 0, 7], ctx_swap[flow_done]
too_soon#:
    flow_now()
    alu[age, now, -, $found[6]]
    alu[--, age, -, grace]
    bhs[through#]
    ctx_arb[voluntary], br[too_soon#]
through#:
    alu_shf[entry, --, B, entry, >>2]
    free_list_free(free_entries, entry)
    br[give_back#]

; ---- context 1

sweep#:
    load32(place, ENTRY_BASE)
    immed[left, ENTRY_COUNT]
look#:
    sram[read, $deleted, settings, 0, 1], ctx_swap[flow_done]
    alu[longest, --, B, $deleted]
    beq[sweep#]
    sram[read, $found[0], place, 0, 7], ctx_swap[flow_done]
    br_bclr[$found[4], 8, next#]
    flow_now()
    alu[age, now, -, $found[6]]
    alu[--, longest, -, age]
    bhs[next#]
    alu[flow_source, --, B, $found[1]]
    alu[flow_destination, --, B, $found[2]]
    alu[flow_ports, --, B, $found[3]]
    alu[flow_protocol, --, B, $found[4]]
    flow_delete(longest, next#)
next#:
    alu[place, place, +, 32]
    alu[left, left, -, 1]
    bne[look#]
    br[sweep#]
