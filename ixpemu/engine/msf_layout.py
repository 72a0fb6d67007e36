"""State of the media and switch fabric: one record inside the chip's state, `state.msf`.

Only the code of msf.py and the ports view write these fields. Field names must not be attributes of numpy records.
"""

from __future__ import annotations

import numpy as np

MSF = np.dtype([
    ("csr", "u4", (2048,)),         # CSRs by word offset, up to and with TBUF element control
    ("rbuf", "u4", (2048,)),        # 8 KB, packet byte 0 in the most significant byte of word 0
    ("tbuf", "u4", (2048,)),
], align=True)
