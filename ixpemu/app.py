"""An application folder (`app.toml`, microcode, its XScale side in Python) made into a ready chip, and run.

The only module that sees both the assembler and the chip. It reads nothing of `app.toml` itself (that is
`ixpemu.app_file`) and prints nothing (that is `ixpemu.report`).

Order of a start, all before cycle 0: the chip is made from its chip file and the overrides; ports get their captures; every
image is assembled; an `XScale` is made; `xscale.load(me, image)` puts each image into its microengine without starting it;
the module's `setup(xscale)` lays out rings, free lists and tables; `xscale.start()` enables the contexts of the loaded
microengines.

What the XScale module of an application (`xscale = { module = "control.py" }`) holds; all three names are optional:

`setup(xscale)`
    Called once. `xscale.tables` maps each name under `tables` to the path of its file, `xscale.ports` is a tuple of
    `PortSettings` (number, gbps, mac), `xscale.images` maps a microengine index to its `Image`.
`handlers`
    A dict from the name of an interrupt source to a function `handler(xscale)`, called at the interrupt's exact cycle.
`classify(frame)`
    Bytes of a frame as it arrived to the name of its packet type; any function named by `packets.classifier`
    as `module:function` will do, `module` being a file of the folder without its `.py`.
"""
