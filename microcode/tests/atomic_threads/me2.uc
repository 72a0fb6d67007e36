; See work.uc.

#include "work.uc"
    ctx_arb[kill]
