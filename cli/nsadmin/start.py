"""The first step of every command: loads the rest of the program without the garbage collector.

Most commands end before a collection is worth its time. Loaded objects are frozen, so that no collection
visits them. A program that runs on collects its own garbage, but less often than Python does by default.
"""

import gc

COLLECTION_THRESHOLD_OBJECTS = 10_000
"""Objects; Python's default of 700 is reached after a few modules."""


def main() -> int:
    """Run the command line of this process and return its exit code."""
    gc.disable()
    from nsadmin.app import main

    gc.freeze()
    gc.set_threshold(COLLECTION_THRESHOLD_OBJECTS)
    gc.enable()
    return main()
