"""The targets of tunnels, SshTarget and KubeTarget, and the parsers of their texts."""

import re
from typing import NamedTuple

from nsadmin.client.connection.addresses import BadAddress

# No first "-", which would be an option of the program, and no blanks.
_SSH_PATTERN = re.compile(
    r"(?:ssh://)?((?:[^\s@/-][^\s@/]{0,127}@)?(?:\[[0-9A-Fa-f:]{2,45}\]|[\w][\w.-]{0,254}))(?::(\d{1,5}))?/?"
)
_NAMESPACE_PATTERN = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_CONTEXT_PATTERN = re.compile(r"[^\s-]\S{0,252}")


class SshTarget(NamedTuple):
    """A host that `ssh` logs in to, and that connects to the servers.

    Attributes:
        destination: "USER@HOST" or "HOST"; a host may be an alias in the configuration of ssh.
        port: The port of its SSH server. Default: as configured, else 22.
        may_ask: Let `ssh` ask on the terminal, for a password for example. Applies to the first login.
    """

    destination: str
    port: int | None = None
    may_ask: bool = False

    def __str__(self) -> str:
        return f"ssh {self.destination}" + ("" if self.port is None else f":{self.port}")


class KubeTarget(NamedTuple):
    """A namespace of a Kubernetes cluster, reached with `kubectl`.

    Attributes:
        namespace: The namespace with the pods.
        context: The context of the kubeconfig file. Default: the current one.
    """

    namespace: str
    context: str | None = None

    def __str__(self) -> str:
        return f"kubectl {'' if self.context is None else f'{self.context}/'}{self.namespace}"


TunnelTarget = SshTarget | KubeTarget


def parse_ssh_target(target_text: str) -> SshTarget:
    """Parse "USER@HOST", "HOST" or "USER@HOST:PORT"."""
    ssh_match = _SSH_PATTERN.fullmatch(target_text.strip())
    if ssh_match is None or (ssh_match[2] is not None and not 0 < int(ssh_match[2]) < 65536):
        raise BadAddress(f'invalid SSH host "{target_text}": use USER@HOST, USER@HOST:PORT or an alias')
    port = None if ssh_match[2] is None else int(ssh_match[2])
    return SshTarget(ssh_match[1].replace("[", "").replace("]", ""), port)


def parse_kube_target(target_text: str) -> KubeTarget:
    """Parse "NAMESPACE" or "CONTEXT/NAMESPACE"."""
    context, slash, namespace = target_text.strip().rpartition("/")
    if not _NAMESPACE_PATTERN.fullmatch(namespace) or (slash and not _CONTEXT_PATTERN.fullmatch(context)):
        raise BadAddress(f'invalid Kubernetes namespace "{target_text}": use NAMESPACE or CONTEXT/NAMESPACE')
    return KubeTarget(namespace, context or None)
