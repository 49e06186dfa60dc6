"""The first step of every command: loads the rest of the program without the garbage collector.

A command is over before there is garbage worth looking for; what is loaded here is never looked at again.
"""

import gc


def main() -> int:
    """Run this process's command line; the exit code."""
    gc.disable()
    from nsadmin.app import main

    gc.freeze()
    gc.enable()
    return main()
