"""Without any of the dependencies: the library works, and a command names what it misses in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fake_servers import FakeBroker, FakeNameServer
from tests.support.name_servers import ROOT

DEPENDENCIES = (
    "cryptography", "h11", "httpx", "javaproperties", "keyring", "lz4", "msgspec", "prometheus_client",
    "pyspark", "rich", "rocksdict", "textual", "typer", "uvloop", "yaml", "zstandard",
)  # fmt: skip

LIBRARY = """
import asyncio, pkgutil, sys
from importlib import import_module
from importlib.util import find_spec

import nsadmin.aio, nsadmin.client
from nsadmin import Access, AdminClient, Credentials
from nsadmin.aio import AsyncAdminClient
from nsadmin.aio.nouns import NOUN_NAMES

dependencies = sys.argv[2].split(",")
assert [name for name in dependencies if find_spec(name)] == []
for package in (nsadmin.client, nsadmin.aio):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        import_module(module.name)
with AdminClient(sys.argv[1], access=Access(credentials=Credentials("key", "secret"))) as admin:
    # Plans are YAML files, bundles contain journals, and saved states are read with types.
    needed = {"plans": "yaml", "rebalance": "yaml", "bundles": "msgspec"}
    for name in NOUN_NAMES:
        try:
            getattr(admin, name)
        except ModuleNotFoundError as error:
            assert error.name == needed.pop(name)
    assert not needed
    assert admin.checks.check_name_servers().state.name == "OK"
    assert admin.find_divergence(settle_seconds=0).observation.verdict == "unknown"
    try:
        admin.drain("no-such-broker", dry_run=True)
    except ModuleNotFoundError as error:
        assert error.name == "msgspec"
    print(*admin.topics.list_names(), *admin.clusters.list_masters())
    [result] = admin.kv.put_value("N", "k", "v")
    assert result.error is None
    print(admin.kv.get_value("N", "k"), admin.clusters.list_broker_status()[0].error)

async def ask() -> None:
    async with AsyncAdminClient(sys.argv[1]) as admin:
        print((await admin.topics.get_route("T")).queues[0].broker_name)

asyncio.run(ask())
"""


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment without any package."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def run(python: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("NSADMIN", "PYTHON"))
    }
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, ROOT / "cli", ROOT / "pipeline")))
    environment["NSADMIN_CONFIG"] = str(python.parent / "no such file")
    environment["NSADMIN_STATE"] = str(python.parent / "state")
    return subprocess.run(
        [python, *args], capture_output=True, text=True, env=environment, timeout=60, check=False
    )


def test_the_library_works(bare_python: Path) -> None:
    with FakeBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        server.routes = {"T": {"broker-a": 6}}
        result = run(bare_python, "-c", LIBRARY, server.addr, ",".join(DEPENDENCIES))
        assert (result.stderr, result.stdout) == ("", f"T {broker.addr}\nv None\nbroker-a\n")


def test_the_command_line_says_in_one_line_what_it_misses(bare_python: Path) -> None:
    result = run(bare_python, "-m", "nsadmin", "topicList")
    assert (result.returncode, result.stdout) == (1, "")
    advice = "run pip install nsadmin-"
    assert result.stderr.startswith(f"nsadmin: the Python package typer is missing: {advice}")
    assert result.stderr.count("\n") == 1
