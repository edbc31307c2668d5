"""``python -m rarg_tui`` is ``rarg``."""

from __future__ import annotations

import sys

from rarg_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
