"""`nsadmin mcp` in a copy of a process that has loaded all commands; each command of its tools, too."""

import sys

from nsadmin.console import python_process
from tests.support import forked_command, forked_commands


def start_commands_in_copies() -> None:
    program = [sys.executable, "-IS", forked_command.__file__, sys.argv[1]]
    vars(python_process)["build_command"] = lambda _, *words: [*program, *words]


if __name__ == "__main__":
    forked_commands.serve(sys.argv[1], start_commands_in_copies)
