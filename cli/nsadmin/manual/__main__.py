"""`python -m nsadmin.manual` writes the rendered files that are in git, and `… stubs` the types for mypy."""

import sys
from pathlib import Path

from nsadmin.manual.rendered_files import render_files_in_git, render_type_stubs


def main(argv: list[str]) -> int:
    files, folder = (
        (render_type_stubs(), Path("cli")) if argv == ["stubs"] else (render_files_in_git(), Path())
    )
    for name, text in files.items():
        path = folder / name
        # mypy reads a file again whose time has changed.
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
