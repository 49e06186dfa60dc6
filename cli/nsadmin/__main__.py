"""The first step of every command: loads the rest of the program without the garbage collector.

Most commands end before a collection is worth its time. Loaded objects are frozen, so that no collection
visits them. A program that runs on collects its own garbage, but less often than Python does by default.
"""

import gc
import sys

from nsadmin import __version__

COLLECTION_THRESHOLD_OBJECTS = 10_000
"""Objects; Python's default of 700 is reached after a few modules."""


def main() -> int:
    """Run the command line of this process and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        # A script may ask often, and Typer takes longer to load than to answer.
        print(f"nsadmin {__version__}")
        return 0
    gc.disable()
    try:
        from nsadmin.app import main
    except ModuleNotFoundError as error:
        from nsadmin.console import stderr

        return stderr.report_failure(error, with_traceback=False)
    gc.freeze()
    gc.set_threshold(COLLECTION_THRESHOLD_OBJECTS)
    gc.enable()
    return main()


if __name__ == "__main__":
    sys.exit(main())
