"""What the frozen program starts: the same door as the `pghaul` command of a Python environment."""

import sys

from gui.entry import main

if __name__ == "__main__":
    sys.exit(main())
