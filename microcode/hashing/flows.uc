; flows.uc: serves the requests of ring 0, 8 threads on as many microengines as one likes; flow.h has their words.
;
;   In    addresses of requests from REQUEST_RING.
;   Out   the same, answered, on ANSWER_RING.
;   Each operation stands in flow_table.uc. Requests for one flow by several threads at once take effect in some order.

#include "flow_table.uc"

.num_contexts 8

.reg flow_source flow_destination flow_ports flow_protocol
.reg entry value chain link table locks mask now
.reg read $found[7]
.reg write $new[7]
.xfer_order $found
.xfer_order $new
.sig flow_done flow_touched

.reg operation request status free_entries zero live
.reg read $request $asked[6]
.reg write $status $answer[2]
.xfer_order $asked
.xfer_order $answer
.sig got answered
.sig volatile ready

; ---- once

#if (CACHED)
    br!=ctx[0, others#]
    fold_start()
    give_turn_to_0(ready)
others#:
    .set_sig ready
    ctx_arb[ready]
    br=ctx[7, all_ready#]
    pass_turn(ready)
all_ready#:
#endif
    flow_setup()
    free_list(free_entries, 0, FREE_QUEUE)
    immed[zero, 0]
    immed[live, LIVE_BIT]

; ---- a request at a time

next#:
    scratch[get, $request, zero, (REQUEST_RING << 2), 1], ctx_swap[got]
    alu[request, --, B, $request]
    beq[next#]
    sram[read, $asked[0], request, 0, 6], ctx_swap[got]
    alu[operation, --, B, $asked[0]]
    alu[flow_source, --, B, $asked[1]]
    alu[flow_destination, --, B, $asked[2]]
    alu[flow_ports, --, B, $asked[3]]
    alu[flow_protocol, live, OR, $asked[4]]
    alu[value, --, B, $asked[5]]
    br=byte[operation, 0, OP_INSERT, insert#]
    br=byte[operation, 0, OP_DELETE, delete#]

    flow_find(missing#)
    flow_touch()
    immed[status, STATUS_DONE]
    br[answer#]

insert#:
    flow_insert(free_entries, there#, full#)
    immed[status, STATUS_DONE]
    br[answer#]

delete#:
    flow_delete(0, missing#)
    immed[status, STATUS_DONE]
    br[answer#]

there#:
    br[answer#], defer[1]
    immed[status, STATUS_THERE]
full#:
    br[answer#], defer[1]
    immed[status, STATUS_FULL]
missing#:
    immed[status, STATUS_MISSING]

answer#:
    alu[$answer[0], --, B, value]
    alu[$answer[1], --, B, entry]
    sram[write, $answer[0], request, 20, 2], ctx_swap[answered]
    alu[$status, --, B, status]
    sram[write, $status, request, 0, 1], ctx_swap[answered]
    alu[$status, --, B, request]
    br[room#]
wait#:
    ctx_arb[voluntary]
room#:
    br_inp_state[SCR_RING1_STATUS, wait#]
    scratch[put, $status, zero, (ANSWER_RING << 2), 1], ctx_swap[answered]
    br[next#]
