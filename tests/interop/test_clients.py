"""Unmodified clients of three languages send and consume, knowing nothing but our name servers."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.interop import jars
from tests.interop.cluster import NameServer, create_topic, wait_for_topic
from tests.interop.java_parts import QUICK_START, JavaBroker, temporary_files

HERE = Path(__file__).parent


def addresses(servers: list[NameServer]) -> str:
    return ";".join(server.address for server in servers)


def output(command: list[str], home: Path, **env: str) -> str:
    """What a client program prints, at most two minutes long."""
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=home, env={**os.environ, **env}
    )
    return result.stdout + result.stderr


def go_program() -> Path:
    """The Go client, built once into the cache."""
    source = HERE / "go"
    stamp = max(int(file.stat().st_mtime) for file in source.iterdir())
    target = jars.cache_root() / f"go-client-{stamp}" / "client"
    if not target.exists():
        folder = Path(tempfile.mkdtemp(prefix=".go-", dir=jars.cache_root()))
        built = ["go", "build", "-mod=readonly", "-o", str(folder / "client"), "."]
        subprocess.run(built, cwd=source, check=True, timeout=600, capture_output=True)
        jars.publish(folder, target.parent)
    return target


def node_modules() -> Path:
    """ali-ons and what it needs, installed once into the cache."""
    target = jars.cache_root() / "ali-ons-3.12.0"
    if not target.exists():
        folder = Path(tempfile.mkdtemp(prefix=".node-", dir=jars.cache_root()))
        shutil.copy(HERE / "node" / "package.json", folder)
        installed = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]
        subprocess.run(installed, cwd=folder, check=True, timeout=600, capture_output=True)
        jars.publish(folder, target)
    return target / "node_modules"


def test_the_java_client_sends_and_consumes_2000_messages(
    name_servers: list[NameServer], broker: JavaBroker, tmp_path: Path
) -> None:
    create_topic(broker.port, "FromJava")
    wait_for_topic(name_servers, "FromJava")
    flags = [*QUICK_START, "-Xmx256m", f"-Duser.home={tmp_path}", *temporary_files(tmp_path)]
    program = ["java", *flags, *jars.program("Clients")]
    assert "sent 2000 received 2000" in output(
        [*program, addresses(name_servers), "FromJava", "2000"], tmp_path
    )


def test_the_go_client_sends_and_consumes_200_messages(
    name_servers: list[NameServer], broker: JavaBroker, tmp_path: Path
) -> None:
    jars.require("go", strict=False)
    create_topic(broker.port, "FromGo")
    wait_for_topic(name_servers, "FromGo")
    program = [str(go_program()), addresses(name_servers), "FromGo", "200"]
    assert "sent 200 received 200" in output(program, tmp_path, HOME=str(tmp_path))


def test_the_node_client_sends_and_consumes_200_messages(
    name_servers: list[NameServer], broker: JavaBroker, tmp_path: Path
) -> None:
    jars.require("node", "npm", strict=False)
    create_topic(broker.port, "FromNode")
    wait_for_topic(name_servers, "FromNode")
    program = ["node", str(HERE / "node" / "clients.js"), addresses(name_servers), "FromNode", "200"]
    client_output = output(program, tmp_path, NODE_PATH=str(node_modules()), HOME=str(tmp_path))
    assert "sent 200 received 200" in client_output
