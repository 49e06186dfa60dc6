"""The house: who may import whom."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_import_contracts_are_kept() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def loaded_by(statement: str) -> set[str]:
    """What is in sys.modules after a statement in a fresh interpreter."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    path = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'cli')!r}]\n"
    ended = subprocess.run([sys.executable, "-c", path + program], capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


def test_the_protocol_knows_no_socket_and_no_loop() -> None:
    modules = sorted(path.stem for path in (ROOT / "namesrv_core" / "protocol").glob("*.py"))
    loaded = loaded_by(f"from namesrv_core.protocol import {', '.join(set(modules) - {'__init__'})}")
    assert "namesrv_core.protocol.codec" in loaded
    assert loaded & {"asyncio", "socket", "ssl", "selectors", "uvloop"} == set()


def test_the_pure_half_loads_no_transport_and_no_storage() -> None:
    loaded = loaded_by("import namesrv_core.handlers.dispatch")
    assert loaded & {"asyncio", "uvloop", "namesrv_core.transport", "namesrv_core.storage"} == set()
