"""KubectlProgram: the command lines of `kubectl` for one namespace, and its answers."""

import json
import re
from collections.abc import Sequence
from typing import Any

from nsadmin.client.connection.tunnels.child_process import ChildProcess, last_line_of, run_guarded
from nsadmin.client.connection.tunnels.pod_directory import KubePod
from nsadmin.client.connection.tunnels.tunnel import OPEN_SECONDS, TunnelError, require_program
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget

_FORWARDING_PATTERN = re.compile(r"Forwarding from 127\.0\.0\.1:(\d{1,5}) -> ")
_TRAFFIC_PATTERN = re.compile(r"Forwarding from |Handling connection for ")
_REFUSAL = "connection refused"


class KubectlProgram:
    """Runs `kubectl` for one namespace, with the kubeconfig file and the credentials of the operator."""

    def __init__(self, target: KubeTarget) -> None:
        context_words = () if target.context is None else ("--context", target.context)
        self._command = ("kubectl", *context_words, "--namespace", target.namespace)

    def list_objects(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the objects of these kinds (`kubectl get KINDS -o json`)."""
        output = self.run("get", ",".join(kinds), "--output=json")
        try:
            return list(json.loads(output)["items"])
        except (ValueError, KeyError, TypeError):
            raise TunnelError("kubectl get printed something else than a list in JSON") from None

    def run(self, *arguments: str) -> bytes:
        """Run a command of kubectl and return its output."""
        require_program("kubectl")
        process = run_guarded([*self._command, *arguments], OPEN_SECONDS)
        if process.exit_code is None:
            raise TunnelError(f"no answer of the cluster within {OPEN_SECONDS:g} s")
        if process.exit_code != 0:
            raise TunnelError(process.last_line or f"kubectl failed with exit code {process.exit_code}")
        return process.output

    def forward_port(self, pod: KubePod, pod_port: int) -> "PortForward":
        """Start `kubectl port-forward` to a port of a pod, and wait until it accepts connections."""
        require_program("kubectl")
        command = (
            *self._command, "port-forward", "--address=127.0.0.1", "--pod-running-timeout=5s",
            f"pod/{pod.name}", f":{pod_port}",
        )  # fmt: skip
        port_forward = PortForward(command, pod.uid)
        if not port_forward.process.wait_until(lambda: port_forward.local_port is not None, OPEN_SECONDS):
            port_forward.process.close()
            reason = last_line_of(port_forward.process.lines)
            raise TunnelError(reason or f"no port-forward to pod {pod.name} within {OPEN_SECONDS:g} s")
        return port_forward


class PortForward:
    """A running `kubectl port-forward` to one port of a pod."""

    def __init__(self, command: Sequence[str], pod_uid: str) -> None:
        self.pod_uid = pod_uid
        self.local_port: int | None = None
        self.first_reason: str | None = None
        self.process = ChildProcess(command, self._take_line)

    def _take_line(self, line: str) -> None:
        forwarding = _FORWARDING_PATTERN.match(line)
        if forwarding is not None:
            # Earlier lines are warnings, for example of the program that gets the credentials.
            self.local_port, self.first_reason = int(forwarding[1]), None
        elif line and not _TRAFFIC_PATTERN.match(line):
            # A line of the log has a long chain of errors around the cause.
            self.first_reason = self.first_reason or last_line_of([_REFUSAL if _REFUSAL in line else line])
