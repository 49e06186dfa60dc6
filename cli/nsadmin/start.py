"""The first step of every command: loads the rest of the program without the garbage collector.

A command is over before there is garbage worth looking for. What is loaded here is never looked at again; a
program that goes on looks at what it makes itself, only less often than Python does by default.
"""

import gc

COLLECTION_THRESHOLD_OBJECTS = 10_000
"""Objects. By default it is 700, which every few modules have."""


def main() -> int:
    """Run this process's command line; the exit code."""
    gc.disable()
    from nsadmin.app import main

    gc.freeze()
    gc.set_threshold(COLLECTION_THRESHOLD_OBJECTS)
    gc.enable()
    return main()
