"""The rules of `kube doctor`. Each rule finds one kind of problem in a namespace. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from namesrv_core.transport.address import split_server_addr
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.tunnels.pod_directory import KubePod
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks.check import CheckScale, judge_kinds
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, worst_state
from nsadmin.operations.kubernetes.observer import KubeObservation

DOCTOR_MEASURES = (
    CheckMeasure("critical", "kinds of findings that stop nsadmin or lose messages", critical="0"),
    CheckMeasure(
        "warnings", "kinds of findings that stand in the way of nsadmin or of restarts", warning="0"
    ),
    CheckMeasure("servers", "pods of servers"),
)
_MIN_GRACE_SECONDS = 60
_DEFAULT_GRACE_SECONDS = 30
"""The default of Kubernetes."""
_SERVER_ROLES = {"namesrv": "name server", "broker": "broker", "proxy": "proxy", "controller": "controller"}


class KubeProblem(NamedTuple):
    """One problem of one object of the namespace. The state OK marks a fact."""

    check_name: str
    check_state: CheckState
    problem_text: str
    object_text: str
    remedy_text: str = ""


def list_servers(seen: KubeObservation) -> Iterator[KubeProblem]:
    for pod in seen.directory.pods:
        roles = [text for role, text in _SERVER_ROLES.items() if role in pod.roles]
        if roles and not pod.is_finished:
            ports = ",".join(map(str, pod.ports)) or "none declared"
            object_text = (
                f"{' and '.join(roles)} {pod.name}: {', '.join(pod.ips) or 'no address'}, ports {ports}, "
                f"{_describe_origin(pod)}"
            )
            yield KubeProblem("servers", CheckState.OK, "servers", object_text)


def list_services(seen: KubeObservation) -> Iterator[KubeProblem]:
    for service in seen.directory.services:
        pods = [pod for pod in seen.directory.pods_of_service(service) if pod.roles]
        if pods:
            ports = ",".join(str(port) for port, _, _ in service.ports)
            kind = service.kind if service.ips else "headless"
            object_text = f"{service.name}: {kind}, ports {ports}, {count_noun(len(pods), 'pod')}"
            yield KubeProblem("services", CheckState.OK, "services", object_text)


def list_volumes(seen: KubeObservation) -> Iterator[KubeProblem]:
    for claim in seen.objects.get("PersistentVolumeClaim", []):
        name, status = claim.get("metadata", {}).get("name", ""), claim.get("status", {})
        size = status.get("capacity", {}).get("storage", "size unknown")
        phase = status.get("phase", "Unknown")
        yield KubeProblem("volumes", CheckState.OK, "persistent volumes", f"{name}: {size}, {phase}")
        if phase != "Bound":
            yield KubeProblem(
                "unboundVolume",
                CheckState.CRITICAL,
                "a claim has no volume, so its pod does not start",
                f"{name}: {phase}",
                "run kubectl describe pvc NAME, and check the storage class",
            )


def check_operator(seen: KubeObservation) -> Iterator[KubeProblem]:
    if seen.operator_kinds:
        kinds = ", ".join(seen.operator_kinds)
        yield KubeProblem("operator", CheckState.OK, "the operator of RocketMQ is installed", kinds)


def check_presence(seen: KubeObservation) -> Iterator[KubeProblem]:
    if not seen.directory.pods_with_role("namesrv"):
        yield KubeProblem(
            "noNameServer",
            CheckState.CRITICAL,
            "no pod of a name server: labels and ports show none",
            f"namespace {seen.directory.namespace}",
            "pass the namespace of the name servers, or declare containerPort 9876",
        )


def check_access(seen: KubeObservation) -> Iterator[KubeProblem]:
    if seen.may_forward is False:
        yield KubeProblem(
            "noPortForward",
            CheckState.CRITICAL,
            "your account may not forward ports, so nsadmin cannot connect",
            f"namespace {seen.directory.namespace}",
            "ask for a role with create on pods/portforward (nsadmin guide reach-a-cluster)",
        )
    for kind, reason in sorted(seen.errors.items()):
        yield KubeProblem(
            "unreadKind",
            CheckState.UNKNOWN,
            "some objects could not be listed",
            f"{kind}: {reason}",
            "ask for a role with get and list on them",
        )


def check_readiness(seen: KubeObservation) -> Iterator[KubeProblem]:
    for pod in seen.directory.pods:
        if pod.roles and not pod.is_ready and not pod.is_finished:
            yield KubeProblem(
                "notReady",
                CheckState.CRITICAL,
                "a server is not ready",
                f"{pod.name}: {pod.manifest.get('status', {}).get('phase', 'no phase')}",
                "run kubectl describe pod NAME and kubectl logs NAME",
            )


def check_registrations(seen: KubeObservation) -> Iterator[KubeProblem]:
    if seen.broker_addrs is None:
        yield KubeProblem(
            "unreadRegistrations",
            CheckState.UNKNOWN,
            "the registered brokers could not be read",
            seen.registry_error or "no name server answered",
            f"run {quote_command('where', '--kube', seen.directory.namespace, '--debug')}",
        )
        return
    registered_pods = set()
    for broker_addr, label in sorted(seen.broker_addrs.items()):
        host_and_port = split_server_addr(broker_addr)
        pod_port = host_and_port and seen.directory.find_target(*host_and_port)
        if pod_port is not None:
            registered_pods.add(pod_port.pod.name)
            continue
        yield KubeProblem(
            "foreignAddress",
            CheckState.WARNING,
            "a broker registered an address of no pod and no service: nsadmin cannot forward it",
            f"{label} at {broker_addr}",
            "set brokerIP1 to the address of the pod, or pass --addressMap ADDRESS=POD; an address of a pod "
            "that ended disappears within two minutes",
        )
    for pod in seen.directory.pods_with_role("broker"):
        if pod.is_ready and pod.name not in registered_pods:
            yield KubeProblem(
                "unregistered",
                CheckState.WARNING,
                "no name server lists a broker at the address of a ready pod",
                f"{pod.name} at {', '.join(pod.ips)}",
                "check brokerIP1 and namesrvAddr of the broker",
            )


def check_network(seen: KubeObservation) -> Iterator[KubeProblem]:
    for pod in seen.directory.pods:
        if pod.roles and not pod.is_finished and _pod_spec(pod).get("hostNetwork"):
            yield KubeProblem(
                "hostNetwork",
                CheckState.WARNING,
                "a server uses the network of its node: its address changes with the node, and two of them "
                "cannot share one",
                f"{pod.name} on {pod.host_ip}",
                "use pod addresses or a headless service, and set hostNetwork: false",
            )


def check_name_server_service(seen: KubeObservation) -> Iterator[KubeProblem]:
    services = {service.name: service for service in seen.directory.services if service.ips}
    for pod in seen.directory.pods_with_role("broker"):
        for addr_text in _read_variable(pod, "NAMESRV_ADDR").replace(",", ";").split(";"):
            service = services.get(addr_text.strip().partition(":")[0].partition(".")[0])
            if service is not None and len(seen.directory.pods_of_service(service)) > 1:
                yield KubeProblem(
                    "sharedNameServers",
                    CheckState.WARNING,
                    "a broker registers through a service that leads to one of several name servers, so the "
                    "others do not list it",
                    f"{pod.name}: NAMESRV_ADDR {addr_text.strip()}",
                    "list each name server: names-0.names:9876;names-1.names:9876",
                )


def check_store(seen: KubeObservation) -> Iterator[KubeProblem]:
    for pod in seen.directory.pods_with_role("broker"):
        volumes = {volume.get("name"): volume for volume in _pod_spec(pod).get("volumes", [])}
        kinds = {
            kind
            for container in _pod_spec(pod).get("containers", [])
            for mount in container.get("volumeMounts", [])
            if "store" in f"{mount.get('mountPath', '')}/{mount.get('subPath', '')}"
            for kind in volumes.get(mount.get("name"), {})
        }
        if "persistentVolumeClaim" in kinds:
            continue
        is_host_path = "hostPath" in kinds
        yield KubeProblem(
            "hostPathStore" if is_host_path else "emptyStore",
            CheckState.WARNING if is_host_path else CheckState.CRITICAL,
            "a broker stores messages on its node: they stay behind if the pod moves"
            if is_host_path
            else "a broker has no persistent volume for its store: its messages are lost with the pod",
            pod.name,
            "mount a volumeClaimTemplate of a StatefulSet at storePathRootDir",
        )


def check_restarts(seen: KubeObservation) -> Iterator[KubeProblem]:
    for pod in seen.directory.pods_with_role("broker"):
        containers = _pod_spec(pod).get("containers", [])
        if not any((container.get("lifecycle") or {}).get("preStop") for container in containers):
            yield KubeProblem(
                "noPreStop",
                CheckState.WARNING,
                "a stop of the pod stops the broker while producers still send to it",
                pod.name,
                "add a preStop hook (nsadmin guide run-on-kubernetes), or run nsadmin drain before a stop",
            )
        grace_seconds = _pod_spec(pod).get("terminationGracePeriodSeconds", _DEFAULT_GRACE_SECONDS)
        if grace_seconds < _MIN_GRACE_SECONDS:
            yield KubeProblem(
                "shortGracePeriod",
                CheckState.WARNING,
                "a broker that needs longer to stop is killed, and repairs its commit log at the next start",
                f"{pod.name}: {grace_seconds} s",
                f"set terminationGracePeriodSeconds: {_MIN_GRACE_SECONDS} or more",
            )
        if not any(container.get("readinessProbe") for container in containers):
            yield KubeProblem(
                "noReadinessProbe",
                CheckState.WARNING,
                "a rolling update stops the next broker before this one is back",
                pod.name,
                "add a readinessProbe on port 10911, and minReadySeconds: 60 to the StatefulSet",
            )
        owners = pod.manifest.get("metadata", {}).get("ownerReferences", [])
        if any(owner.get("kind") == "ReplicaSet" for owner in owners):
            yield KubeProblem(
                "brokerDeployment",
                CheckState.WARNING,
                "a Deployment runs a broker: a new pod has another name and another volume",
                pod.name,
                "use a StatefulSet",
            )


KUBE_RULES: tuple[Callable[[KubeObservation], Iterator[KubeProblem]], ...] = (
    check_presence, check_access, check_readiness, check_registrations, check_network,
    check_name_server_service, check_store, check_restarts, list_volumes, check_operator, list_servers,
    list_services,
)  # fmt: skip


def judge_namespace(scale: CheckScale, seen: KubeObservation) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return an overall finding, and one per kind of problem or fact with its objects, worst first."""
    problems_by_check: dict[str, list[KubeProblem]] = {}
    for kube_rule in KUBE_RULES:
        for problem in kube_rule(seen):
            problems_by_check.setdefault(problem.check_name, []).append(problem)
    kinds = [_build_finding(problems) for problems in problems_by_check.values()]
    server_count = len(problems_by_check.get("servers", []))
    return judge_kinds(scale, kinds, server_count, f" in {seen.directory.namespace}")


def _build_finding(problems: list[KubeProblem]) -> CheckFinding:
    first = problems[0]
    count_text = f" ({len(problems)})" if len(problems) > 1 else ""
    remedies = tuple(
        dict.fromkeys(f"remedy: {problem.remedy_text}" for problem in problems if problem.remedy_text)
    )
    return CheckFinding(
        first.check_name,
        worst_state(problem.check_state for problem in problems),
        f"{first.problem_text}{count_text}",
        (),
        (*(problem.object_text for problem in problems), *remedies),
    )


def _describe_origin(pod: KubePod) -> str:
    if "broker_cr" in pod.labels or "name_service_cr" in pod.labels:
        return "of the operator"
    if "helm.sh/chart" in pod.labels or "app.kubernetes.io/instance" in pod.labels:
        return f"of the Helm release {pod.labels.get('app.kubernetes.io/instance', 'unknown')}"
    owners = pod.manifest.get("metadata", {}).get("ownerReferences", [])
    return f"of {owners[0].get('kind')} {owners[0].get('name')}" if owners else "without an owner"


def _pod_spec(pod: KubePod) -> Mapping[str, Any]:
    spec: Mapping[str, Any] = pod.manifest.get("spec", {})
    return spec


def _read_variable(pod: KubePod, variable_name: str) -> str:
    for container in _pod_spec(pod).get("containers", []):
        for variable in container.get("env", []):
            if variable.get("name") == variable_name:
                return str(variable.get("value", ""))
    return ""
