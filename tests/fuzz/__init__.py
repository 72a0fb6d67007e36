"""Nonsense by the million: random words, registers, application, image and snapshot files, none of which may crash or hang.

`python -m tests.fuzz KIND SEED AMOUNT` runs one kind in a process of its own (a crash of compiled code ends the process) and
prints what it did as JSON; tests/property/test_fuzz.py starts such processes. `ixpemu` has to answer everything with a result,
one of its named stops, or a UserError.
"""
