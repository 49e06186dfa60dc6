"""Reads the objects of a Kubernetes namespace, and the addresses that brokers registered."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.connection.tunnels.kubectl_program import KubectlProgram
from nsadmin.client.connection.tunnels.pod_directory import PodDirectory
from nsadmin.client.connection.tunnels.tunnel import TunnelError
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget

_KINDS = ("pods", "services", "statefulsets.apps", "persistentvolumeclaims")
_OPERATOR_GROUP = "rocketmq.apache.org"


class KubeObservation(NamedTuple):
    """A namespace at one moment.

    `directory` has its pods and services. `objects` has all objects by kind, and `errors` the reason for
    each kind that could not be listed. `operator_kinds` are the kinds that the operator of RocketMQ adds.
    `may_forward` is None if unknown. `broker_addrs` has the registered brokers, address to name; None if no
    name server answered, and `registry_error` says why.
    """

    directory: PodDirectory
    objects: Mapping[str, list[Mapping[str, Any]]]
    errors: Mapping[str, str]
    operator_kinds: tuple[str, ...]
    may_forward: bool | None
    broker_addrs: Mapping[str, str] | None
    registry_error: str | None = None


def observe_namespace(target: KubeTarget, admin: AdminClient) -> KubeObservation:
    """Read a namespace with kubectl, and its brokers from the name servers.

    Raises TunnelError if kubectl cannot list the pods.
    """
    kubectl = KubectlProgram(target)
    objects, errors = _list_kinds(kubectl)
    if "pods" in errors:
        raise TunnelError(errors["pods"])
    all_items = [item for items in objects.values() for item in items]
    broker_addrs, registry_error = _list_registered(admin)
    return KubeObservation(
        PodDirectory(target.namespace, all_items),
        objects,
        errors,
        _list_operator_kinds(kubectl),
        _may_forward(kubectl),
        broker_addrs,
        registry_error,
    )


def _list_kinds(kubectl: KubectlProgram) -> tuple[dict[str, list[Mapping[str, Any]]], dict[str, str]]:
    """The objects by kind of their JSON, and the errors by kind of the question."""
    items: list[Mapping[str, Any]] = []
    errors: dict[str, str] = {}
    try:
        items += kubectl.list_objects(*_KINDS)
    except TunnelError:
        # One kind that the account may not list hides the others.
        for kind in _KINDS:
            try:
                items += kubectl.list_objects(kind)
            except TunnelError as error:
                errors[kind] = str(error)
    objects: dict[str, list[Mapping[str, Any]]] = {}
    for item in items:
        objects.setdefault(str(item.get("kind", "")), []).append(item)
    return objects, errors


def _list_operator_kinds(kubectl: KubectlProgram) -> tuple[str, ...]:
    try:
        output = kubectl.run("api-resources", f"--api-group={_OPERATOR_GROUP}", "--output=name")
    except TunnelError:
        return ()
    return tuple(sorted(output.decode("utf-8", "replace").split()))


def _may_forward(kubectl: KubectlProgram) -> bool | None:
    try:
        # kubectl reads "pods/portforward" as a pod with that name. The exit code of "no" is 1.
        return kubectl.run("auth", "can-i", "create", "pods", "--subresource=portforward").strip() == b"yes"
    except TunnelError as error:
        return False if str(error) in ("", "kubectl failed with exit code 1") else None


def _list_registered(admin: AdminClient) -> tuple[dict[str, str] | None, str | None]:
    try:
        broker_groups = admin.clusters.get_info().broker_groups
    except RocketMQError as error:
        return None, str(error)
    return {
        addr: f"{group.broker_name}:{broker_id}"
        for group in broker_groups
        for broker_id, addr in group.broker_addrs.items()
    }, None
