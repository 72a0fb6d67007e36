"""The compiled core of the emulator. `layout` and `state` say what its state is; `core.run_slice` runs it.

Only `ixpemu.chip` and the modules beside it look in here. Importing this package imports nothing else.
"""
