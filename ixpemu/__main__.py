"""`python -m ixpemu`: the same as the command `ixpemu`."""

from ixpemu.cli import main

if __name__ == "__main__":
    main()
