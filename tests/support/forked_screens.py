"""The process that terminals of tests copy: it has loaded Textual, too."""

import sys

from nsadmin.tui import app  # noqa: F401 - it is loaded for the copies
from tests.support import forked_commands

if __name__ == "__main__":
    forked_commands.serve(sys.argv[1])
