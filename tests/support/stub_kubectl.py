"""A `kubectl` for tests: prints the lines of the real one, and relays ports like the real one.

The file STUB_CLUSTER has the cluster as JSON:

    items     the objects that `kubectl get` prints
    servers   the address that a port of a pod leads to, by "POD:PORT"
    error     what every command reports on stderr, if it is not empty
    kinds     the kinds of the operator
    may_forward  whether the account may forward ports
    network   the process whose network namespace the servers are in; 0 for that of the stub

`port-forward` ends when the pod is not in the file any more, or has another uid. The file STUB_CALLS gets a
line for each start of the stub: its process, and its arguments.
"""

import ctypes
import json
import os
import re
import selectors
import socket
import sys
from pathlib import Path
from typing import Any

CLONE_NEWNET = 0x40000000
# As kubectl 1.32 prints it. Then it ends.
REFUSAL = (
    'E1124 18:00:00.000000   12345 portforward.go:424] "Unhandled Error" err="an error occurred forwarding '
    "{local} -> {pod}: error forwarding port {pod} to pod 0a1b2c, uid : failed to execute portforward in "
    'network namespace \\"/var/run/netns/cni-1\\": failed to connect to localhost:{pod} inside namespace '
    '\\"0a1b2c\\", IPv4: dial tcp4 127.0.0.1:{pod}: connect: connection refused IPv6 dial tcp6: address '
    'localhost: no suitable address found "'
)


def read_cluster() -> dict[str, Any]:
    cluster: dict[str, Any] = json.loads(Path(os.environ["STUB_CLUSTER"]).read_text())
    return cluster


def fail(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
    sys.exit(1)


def get(arguments: list[str], options: dict[str, str]) -> None:
    kinds = {kind.partition(".")[0].rstrip("s") for kind in arguments[0].split(",")}
    items = [item for item in read_cluster()["items"] if item["kind"].lower() in kinds]
    print(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def find_pod(pod_name: str) -> dict[str, Any] | None:
    for item in read_cluster()["items"]:
        if item["kind"] == "Pod" and item["metadata"]["name"] == pod_name:
            return dict(item)
    return None


def port_forward(arguments: list[str], options: dict[str, str]) -> None:
    pod_name, pod_port = arguments[0].removeprefix("pod/"), int(arguments[1].removeprefix(":"))
    pod = find_pod(pod_name)
    if pod is None:
        fail(f'Error from server (NotFound): pods "{pod_name}" not found')
        return
    if pod["status"]["phase"] != "Running":
        phase = pod["status"]["phase"]
        fail(f"error: unable to forward port because pod is not running. Current status={phase}")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"Forwarding from 127.0.0.1:{listener.getsockname()[1]} -> {pod_port}", flush=True)
        network_pid = read_cluster().get("network")
        if network_pid:
            with open(f"/proc/{network_pid}/ns/net") as network:
                assert ctypes.CDLL(None, use_errno=True).setns(network.fileno(), CLONE_NEWNET) == 0
        Relay(listener, pod_name, pod["metadata"]["uid"], pod_port).run()


class Relay:
    def __init__(self, listener: socket.socket, pod_name: str, pod_uid: str, pod_port: int) -> None:
        self._listener, self._pod_name, self._pod_uid, self._pod_port = listener, pod_name, pod_uid, pod_port
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def run(self) -> None:
        while True:
            pod = find_pod(self._pod_name)
            if pod is None or pod["metadata"]["uid"] != self._pod_uid:
                fail("error: lost connection to pod")
            for key, _ in self._selector.select(0.1):
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._copy(key)

    def _accept(self) -> None:
        near, _ = self._listener.accept()
        print(f"Handling connection for {self._listener.getsockname()[1]}", flush=True)
        host, _, port = (
            read_cluster()["servers"].get(f"{self._pod_name}:{self._pod_port}", "127.0.0.1:1").rpartition(":")
        )
        try:
            far = socket.create_connection((host, int(port)), 5)
        except OSError:
            local_port = self._listener.getsockname()[1]
            print(REFUSAL.format(local=local_port, pod=self._pod_port), file=sys.stderr)
            near.close()
            fail("error: lost connection to pod")
            return
        self._selector.register(near, selectors.EVENT_READ, far)
        self._selector.register(far, selectors.EVENT_READ, near)

    def _copy(self, key: selectors.SelectorKey) -> None:
        source: Any = key.fileobj
        try:
            data = source.recv(65536)
            if data:
                key.data.sendall(data)
                return
        except OSError:
            pass
        for ended in (source, key.data):
            if ended.fileno() >= 0:
                self._selector.unregister(ended)
                ended.close()


def list_kinds(arguments: list[str], options: dict[str, str]) -> None:
    for kind in read_cluster().get("kinds", []):
        print(kind)


def answer_right(arguments: list[str], options: dict[str, str]) -> None:
    # Without the option, kubectl answers about a pod named "portforward".
    is_asked = arguments[-1] == "pods" and options.get("--subresource") == "portforward"
    is_allowed = is_asked and read_cluster().get("may_forward", True)
    print("yes" if is_allowed else "no")
    sys.exit(0 if is_allowed else 1)


COMMANDS = {"get": get, "port-forward": port_forward, "api-resources": list_kinds, "auth": answer_right}


def main() -> None:
    with open(os.environ["STUB_CALLS"], "a") as calls:
        calls.write(f"{os.getpid()} {' '.join(sys.argv[1:])}\n")
    options: dict[str, str] = {}
    words: list[str] = []
    arguments = iter(sys.argv[1:])
    for argument in arguments:
        option = re.fullmatch(r"(--[\w-]+)(?:=(.*))?", argument)
        if option is None:
            words.append(argument)
        else:
            options[option[1]] = option[2] if option[2] is not None else next(arguments)
    if words[0] == "get" and os.environ.get("STUB_FORBIDDEN", "-") in words[1].split(","):
        kind = os.environ["STUB_FORBIDDEN"]
        fail(f'Error from server (Forbidden): {kind} is forbidden: User "ops" cannot list resource "{kind}"')
    error = read_cluster().get("error")
    if error:
        fail(error)
    COMMANDS[words[0]](words[1:], options)


if __name__ == "__main__":
    main()
