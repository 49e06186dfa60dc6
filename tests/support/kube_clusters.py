"""Pods and services for the stub of kubectl, and the folder that makes it the `kubectl` of a test."""

import json
import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support import stub_kubectl


def make_pod(
    name: str,
    ip: str,
    ports: Iterable[int] = (),
    *,
    uid: str = "1",
    phase: str = "Running",
    labels: Mapping[str, str] | None = None,
    subdomain: str = "",
    **spec: Any,
) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": name, "uid": f"{name}-{uid}", "labels": dict(labels or {})},
        "spec": {
            "hostname": name,
            "subdomain": subdomain,
            "containers": [
                {"name": "main", "ports": [{"containerPort": port, "name": f"port-{port}"} for port in ports]}
            ],
            **spec,
        },
        "status": {
            "phase": phase,
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "hostIP": "192.0.2.1",
            "conditions": [{"type": "Ready", "status": str(phase == "Running")}],
        },
    }


def make_service(
    name: str,
    selector: Mapping[str, str],
    ports: Sequence[tuple[int, int | str]] = (),
    cluster_ip: str = "None",
    kind: str = "ClusterIP",
    node_port: int = 0,
) -> dict[str, Any]:
    return {
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {
            "type": kind,
            "clusterIP": cluster_ip,
            "clusterIPs": [cluster_ip],
            "selector": dict(selector),
            "ports": [
                {"port": port, "targetPort": target, **({"nodePort": node_port} if node_port else {})}
                for port, target in ports
            ],
        },
    }


class StubCluster:
    """A cluster behind the stub of kubectl, in files of a folder.

    `variables` make the stub the `kubectl` of a program. `calls` are its command lines so far.
    """

    def __init__(self, folder: Path) -> None:
        self._cluster_file, self._calls_file = folder / "cluster.json", folder / "calls"
        programs = folder / "programs"
        programs.mkdir()
        kubectl = programs / "kubectl"
        kubectl.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{stub_kubectl.__file__}" "$@"\n')
        kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
        self.items: list[dict[str, Any]] = []
        self.servers: dict[str, str] = {}
        self.error = ""
        self.network = 0
        self.kinds: list[str] = []
        self.may_forward = True
        self.variables = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "STUB_CLUSTER": str(self._cluster_file),
            "STUB_CALLS": str(self._calls_file),
        }
        self._calls_file.write_text("")
        self.save_objects()

    def save_objects(self) -> None:
        cluster = {
            "items": self.items,
            "servers": self.servers,
            "error": self.error,
            "network": self.network,
            "kinds": self.kinds,
            "may_forward": self.may_forward,
        }
        new_file = self._cluster_file.with_suffix(".new")
        new_file.write_text(json.dumps(cluster))
        new_file.replace(self._cluster_file)

    @property
    def calls(self) -> list[str]:
        return [line.partition(" ")[2] for line in self._calls_file.read_text().splitlines()]

    @property
    def processes(self) -> list[int]:
        """The processes of the stub that still run."""
        started = [int(line.partition(" ")[0]) for line in self._calls_file.read_text().splitlines()]
        return [process for process in started if is_stub(process)]


def is_stub(process: int) -> bool:
    try:
        return b"stub_kubectl" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
