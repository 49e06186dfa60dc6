"""`python -m nsadmin.manual`: writes man/, completions/, docs/commands.md and the schemas in docs/.

`--check` only compares.
"""

import sys
from pathlib import Path

from namesrv_core.history import record_schema
from namesrv_core.state import credentials_schema
from nsadmin.manual import man
from nsadmin.manual.completion import bash, fish, powershell, zsh
from nsadmin.manual.completion.shapes import shapes
from nsadmin.manual.describe import commands
from nsadmin.manual.reference import reference
from nsadmin.operations.plans import schema as cluster_schema


def files() -> dict[str, str]:
    """Every file that is rendered, by its path from the root of the project."""
    found = commands()
    shape = shapes(found)
    return {
        "man/man1/nsadmin.1": man.overview(found),
        **{f"man/man1/nsadmin-{command.entry.name}.1": man.page(command) for command in found},
        "completions/nsadmin.bash": bash.script(shape),
        "completions/_nsadmin": zsh.script(shape),
        "completions/nsadmin.fish": fish.script(shape),
        "completions/nsadmin.ps1": powershell.script(shape),
        "docs/commands.md": reference(found),
        "docs/journal.schema.json": record_schema.record_schema_text(),
        "docs/credentials.schema.json": credentials_schema.credentials_schema_text(),
        "docs/cluster.schema.json": cluster_schema.format_schema(),
    }


def outdated(root: Path) -> list[str]:
    """What is missing, differs, or is of a command that is no more."""
    rendered = files()
    there = {path.relative_to(root).as_posix() for path in (root / "man" / "man1").glob("*.1")}
    changed = [name for name, text in rendered.items() if not _is(root / name, text)]
    return sorted({*changed, *(there - rendered.keys())})


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


def main(argv: list[str]) -> int:
    root = Path.cwd()
    names = outdated(root)
    if "--check" in argv:
        for name in names:
            print(f"{name} is not what the code says: run make generate", file=sys.stderr)
        return 1 if names else 0
    rendered = files()
    for name in names:
        path = root / name
        if name in rendered:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rendered[name])
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
