"""`python -m overthere` is `overthere`, without the current folder on the import path."""

import os
import sys

if __name__ == "__main__":
    # Python added that folder first, and has imported `importlib` from it; `python -P -m overthere` never searches it.
    is_safe: bool = bool(getattr(sys.flags, "safe_path", sys.flags.isolated))
    if not is_safe and sys.path[0] != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
        del sys.path[0]

    from overthere.cli import main

    main()
