"""State of the media and switch fabric and of the ports behind it: one record inside the chip's state, `state.msf`.

Only the code of msf.py, receive.py and transmit.py and the ports view write these fields. Field names must not be attributes of
numpy records. Rings have counters that only grow; modulo the ring's length they are places. `..._tail` is where
the next thing goes in, `..._head` where the next one comes out. Arrays of rows hold port 0's ring, then port 1's, then port 2's.
"""

from __future__ import annotations

import numpy as np

PORTS = 3
"""Ports the state has room for; the parameter `port.count` says how many the board has."""

BUFFER_BYTES = 8192         # RBUF and TBUF, each
BUFFER_WORDS = BUFFER_BYTES // 4
ELEMENTS_MAX = 128
LISTS = 3                   # receive thread free lists, and partitions of a buffer at most
THREADS_MAX = 64            # entries of one receive thread free list
CSR_WORDS = 2048
CONTROL_WORD = 0x1800 // 4  # first word of TBUF element control

ARRIVAL_ROWS = 4096         # frames of a port placed ahead of time
ARRIVAL_WORDS = 1 << 16
FIFO_ROWS = 1024
FIFO_WORDS = 1 << 14        # 64 KB, the most a chip file may ask for less the rounding to words
SENT_ROWS = 4096
SENT_BYTES = 1 << 20

ELEMENT_OWNED, ELEMENT_FREE, ELEMENT_FILLING, ELEMENT_FULL = 0, 1, 2, 3

MSF = np.dtype([
    ("csr", "u4", (CSR_WORDS,)),        # CSRs by word offset, up to and with TBUF element control
    ("rbuf", "u4", (BUFFER_WORDS,)),    # 8 KB, packet byte 0 in the most significant byte of word 0
    ("tbuf", "u4", (BUFFER_WORDS,)),
    # Frames that will arrive, placed by the ports view: only it writes the tails, `input_more` and `input_low`.
    ("arrival_time", "u8", (PORTS * ARRIVAL_ROWS,)),    # cycle in which the last bit is in
    ("arrival_length", "u4", (PORTS * ARRIVAL_ROWS,)),  # bytes, before padding
    ("arrival_kind", "u1", (PORTS * ARRIVAL_ROWS,)),    # type of packet, the host's own numbers
    ("arrival_faults", "u2", (PORTS * ARRIVAL_ROWS,)),  # error bits that the frame's status words are to show
    ("arrival_start", "u4", (PORTS * ARRIVAL_ROWS,)),   # word counter of the first word; unused for frames that the MAC refuses
    ("arrival_words", "u4", (PORTS * ARRIVAL_WORDS,)),
    ("arrival_head", "u4", (PORTS,)), ("arrival_tail", "u4", (PORTS,)),
    ("input_more", "u1", (PORTS,)),     # 1: the port's source has frames beyond those placed
    ("input_low", "u4", (PORTS,)),      # ask for more when so many rows are left
    ("input_wanted", "u1", (PORTS,)),
    # Receive FIFO of each port
    ("fifo_length", "u4", (PORTS * FIFO_ROWS,)), ("fifo_packet", "u4", (PORTS * FIFO_ROWS,)),
    ("fifo_faults", "u2", (PORTS * FIFO_ROWS,)),
    ("fifo_words", "u4", (PORTS * FIFO_WORDS,)),
    ("fifo_head", "u4", (PORTS,)), ("fifo_tail", "u4", (PORTS,)),
    ("fifo_word_head", "u4", (PORTS,)), ("fifo_word_tail", "u4", (PORTS,)),
    ("fifo_moved", "u4", (PORTS,)),     # bytes of the first frame that have left for RBUF
    ("fifo_used", "u4", (PORTS,)), ("fifo_peak", "u4", (PORTS,)),       # bytes
    # The receive bus: at most one mpacket on its way
    ("bus_in_busy", "u4"), ("bus_in_port", "u4"), ("bus_in_element", "u4"), ("bus_in_bytes", "u4"),
    ("bus_in_place", "u4"), ("bus_in_list", "u4"),      # byte of RBUF, and the list that the element will go to
    # RBUF elements and the threads that wait for them: a ring of free elements by partition, one of full ones and one of threads
    # by list
    ("element_state", "u1", (ELEMENTS_MAX,)),           # ELEMENT_*
    ("element_status", "u4", (ELEMENTS_MAX,)), ("element_checksum", "u4", (ELEMENTS_MAX,)),
    ("element_packet", "u4", (ELEMENTS_MAX,)),
    ("free_ring", "u1", (LISTS * ELEMENTS_MAX,)), ("free_head", "u4", (LISTS,)), ("free_tail", "u4", (LISTS,)),
    ("full_ring", "u1", (LISTS * ELEMENTS_MAX,)), ("full_head", "u4", (LISTS,)), ("full_tail", "u4", (LISTS,)),
    ("thread_ring", "u2", (LISTS * THREADS_MAX,)), ("thread_head", "u4", (LISTS,)), ("thread_tail", "u4", (LISTS,)),
    # TBUF elements, the transmit bus
    ("send_valid", "u1", (ELEMENTS_MAX,)), ("send_packet", "u4", (ELEMENTS_MAX,)),
    ("send_writer", "u4", (ELEMENTS_MAX,)),     # who wrote the control word: microengine << 24 | context << 16 | address
    # By partition: the element that the strict order asks for next, elements transmitted, elements valid and not yet transmitted
    ("send_next", "u4", (LISTS,)), ("send_count", "u4", (LISTS,)), ("send_pending", "u4", (LISTS,)),
    ("bus_out_busy", "u4"),             # 1 + partition of the element on the bus
    ("bus_out_last", "u4"),             # partition that sent last
    ("writer_pc", "u4"),                # address of the command that acts on the MSF, for what is reported
    ("writer_packet", "u4"),            # the packet that its thread worked on when it issued, 0 for none
    # Transmit MAC of each port
    ("open_frame", "u4", (PORTS,)),     # 0 none, 1 a frame being put together, 2 one that will be thrown away
    ("open_length", "u4", (PORTS,)), ("open_packet", "u4", (PORTS,)),
    ("mac_used", "u4", (PORTS,)),       # bytes of the open frame and of those that wait or are on the line
    ("line_busy", "u4", (PORTS,)),
    ("line_free", "u8", (PORTS,)),      # when the line may take the next frame, in thousandths of a cycle
    # Frames sent: rows below `sent_done` are out; the ports view collects them
    ("sent_time", "u8", (PORTS * SENT_ROWS,)),          # cycle in which the last bit is out
    ("sent_length", "u4", (PORTS * SENT_ROWS,)), ("sent_start", "u4", (PORTS * SENT_ROWS,)),
    ("sent_packet", "u4", (PORTS * SENT_ROWS,)),
    ("sent_bytes", "u1", (PORTS * SENT_BYTES,)),
    ("sent_tail", "u4", (PORTS,)), ("sent_done", "u4", (PORTS,)), ("sent_byte_tail", "u4", (PORTS,)),
    ("sent_rows_marked", "u4", (PORTS,)), ("sent_bytes_marked", "u4", (PORTS,)),   # where the last request to collect was made
    # Counters of each port
    ("in_frames", "u8", (PORTS,)), ("in_bytes", "u8", (PORTS,)),
    ("in_runts", "u8", (PORTS,)), ("in_oversize", "u8", (PORTS,)), ("in_overflow", "u8", (PORTS,)),
    ("out_frames", "u8", (PORTS,)), ("out_bytes", "u8", (PORTS,)),
    ("out_runts", "u8", (PORTS,)), ("out_oversize", "u8", (PORTS,)), ("out_aborted", "u8", (PORTS,)),
    ("out_broken", "u8", (PORTS,)),     # frames without beginning or end
    ("out_nowhere", "u8"),              # elements for a channel that has no port
    # Counters of the fabric
    ("elements_in", "u8"), ("elements_out", "u8"), ("statuses", "u8"), ("nulls", "u8"),
], align=True)
