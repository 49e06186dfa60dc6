"""The released proxy of 5.x on loopback, in cluster mode or with a broker in local mode."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.interop import jars
from tests.interop.java_parts import QUICK_START, Running, jvm, temporary_files, write_properties
from tests.interop.processes import free_port, start_child

_MAIN = "org.apache.rocketmq.proxy.ProxyStartup"


class JavaProxy(Running):
    """A released proxy; `config` adds to or replaces its settings.

    With `broker_config`, the proxy runs in local mode: it contains a broker with these properties.
    """

    def __init__(
        self,
        home: Path,
        namesrv_addrs: Sequence[str],
        config: Mapping[str, object] | None = None,
        broker_config: Mapping[str, object] | None = None,
        jvm_flags: Sequence[str] = QUICK_START,
        version: str = jars.NEWEST,
    ) -> None:
        self.home, self._flags, self._version = home, jvm_flags, version
        self.grpc_port, self.remoting_port = free_port(), free_port()
        self._broker_config = broker_config
        self._config = {
            "proxyMode": "cluster" if broker_config is None else "local",
            "proxyName": home.name,
            "rocketMQClusterName": "DefaultCluster",
            "namesrvAddr": ";".join(namesrv_addrs),
            "localServeAddr": "127.0.0.1",
            "grpcServerPort": self.grpc_port,
            "remotingListenPort": self.remoting_port,
            **(config or {}),
        }

    @property
    def grpc_address(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def remoting_address(self) -> str:
        return f"127.0.0.1:{self.remoting_port}"

    def start(self) -> None:
        file = self.home / "proxy.json"
        self.home.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self._config))
        words = ["-pc", str(file)]
        if self._broker_config is not None:
            words += ["-bc", str(write_properties(self.home / "broker.properties", self._broker_config))]
        command = jvm(self._version, _MAIN, self.home, [*self._flags, "-Xms128m", "-Xmx512m"])
        folder = jars.proxy(self._version)
        program = jars.compiled("LoopbackProxy", self._version, folder)
        log, line = self.home / "stdout.log", "rocketmq-proxy startup successfully"
        self.child = start_child([*command, *program, *words], log, line, 90)


class PythonGrpcClients(Running):
    """A simple consumer and a producer of the Python gRPC client, which pip brings into the cache."""

    VERSION = "5.1.2"

    def __init__(self, home: Path, endpoint: str, topic: str, group: str) -> None:
        self.home, self._args = home, [endpoint, topic, group]

    def start(self) -> None:
        folder = jars.cache_root() / f"rocketmq-python-client-{self.VERSION}"
        if not folder.is_dir():
            install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder)]
            subprocess.run([*install, f"rocketmq-python-client=={self.VERSION}"], check=True, timeout=300)
        program = Path(__file__).with_name("python") / "grpc_client.py"
        command = [sys.executable, str(program), *self._args]
        environment = {"PYTHONPATH": str(folder), "HOME": str(self.home)}
        self.child = start_child(command, self.home / "stdout.log", "ready", 60, environment, talks=True)


class GrpcClients(Running):
    """Java gRPC clients that stay; each has a name."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def start(self) -> None:
        self.home.mkdir(parents=True)
        program = jars.compiled("GrpcClients", jars.GRPC_CLIENT, jars.grpc_client())
        command = [
            "java",
            *QUICK_START,
            "-Xmx256m",
            f"-Duser.home={self.home}",
            *temporary_files(self.home),
            *program,
        ]
        self.child = start_child(command, self.home / "stdout.log", "ready", 60, talks=True)

    def open(self, kind: str, name: str, endpoint: str, topic: str, group: str = "-") -> str:
        """Start a push or simple consumer or a producer; return its client id."""
        self.order(f"{kind} {name} {endpoint} {topic} {group}")
        return self.child.wait_for_line(f"id {name} ", 1).split()[2]

    def order(self, line: str) -> None:
        """Have the clients do something, and wait until it is done."""
        self.child.write(f"{line}\n")
        self.child.wait_for_line(f"done {line}", 40)
