"""The rules of kube doctor, one by one."""

from collections.abc import Mapping
from typing import Any

import pytest

from nsadmin.client.connection.tunnels.pod_directory import PodDirectory
from nsadmin.operations.checks.check import CheckScale
from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.kubernetes.observer import KubeObservation
from nsadmin.operations.kubernetes.rules import DOCTOR_MEASURES, judge_namespace
from tests.support.kube_clusters import make_pod, make_service

NAMES, BROKER = {"component": "nameserver"}, {"app": "broker", "broker_cr": "a"}
STORE: dict[str, Any] = {
    "containers": [
        {
            "ports": [{"containerPort": 10911}],
            "volumeMounts": [{"name": "data", "mountPath": "/home/rocketmq/store"}],
            "lifecycle": {"preStop": {"exec": {"command": ["true"]}}},
            "readinessProbe": {"tcpSocket": {"port": 10911}},
            "env": [{"name": "NAMESRV_ADDR", "value": "names-0.names:9876"}],
        }
    ],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-broker-0"}}],
    "terminationGracePeriodSeconds": 90,
}
HEALTHY = [
    make_pod("names-0", "10.1.0.4", [9876], labels=NAMES),
    make_pod("broker-0", "10.1.0.5", labels=BROKER, **STORE),
    make_service("names", NAMES, [(9876, 9876)]),
    {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-broker-0"},
        "status": {"phase": "Bound", "capacity": {"storage": "8Gi"}},
    },
]


def findings(
    items: list[dict[str, Any]], broker_addrs: Mapping[str, str] | None = None, **more: Any
) -> dict[str, tuple[CheckState, tuple[str, ...]]]:
    objects: dict[str, list[Mapping[str, Any]]] = {}
    for item in items:
        objects.setdefault(item["kind"], []).append(item)
    observation = KubeObservation(
        PodDirectory("mq", items),
        objects,
        more.pop("errors", {}),
        more.pop("operator_kinds", ()),
        more.pop("may_forward", True),
        {"10.1.0.5:10911": "broker-a:0"} if broker_addrs is None else broker_addrs,
    )._replace(**more)
    overall, parts = judge_namespace(CheckScale("kubernetes", DOCTOR_MEASURES), observation)
    details_by_check = {part.check: (part.state, part.details) for part in parts}
    details_by_check["all"] = (overall.state, (overall.summary,))
    return details_by_check


def changed(**spec: Any) -> list[dict[str, Any]]:
    """The healthy namespace with another broker."""
    return [HEALTHY[0], make_pod("broker-0", "10.1.0.5", labels=BROKER, **{**STORE, **spec}), *HEALTHY[2:]]


def test_a_healthy_namespace_shows_what_is_deployed() -> None:
    assert findings(HEALTHY, operator_kinds=("brokers.rocketmq.apache.org",)) == {
        "servers": (
            CheckState.OK,
            (
                "broker broker-0: 10.1.0.5, ports 10911, of the operator",
                "name server names-0: 10.1.0.4, ports 9876, without an owner",
            ),
        ),
        "services": (CheckState.OK, ("names: headless, ports 9876, 1 pod",)),
        "volumes": (CheckState.OK, ("data-broker-0: 8Gi, Bound",)),
        "operator": (CheckState.OK, ("brokers.rocketmq.apache.org",)),
        "all": (CheckState.OK, ("0 critical problems, 0 warnings; servers in mq: 2",)),
    }


CONTAINER = STORE["containers"][0]


@pytest.mark.parametrize(
    ("items", "check", "state", "about"),
    [
        (HEALTHY[1:], "noNameServer", CheckState.CRITICAL, "namespace mq"),
        (
            [make_pod("names-0", "", labels=NAMES, phase="Pending"), *HEALTHY[1:]],
            "notReady",
            CheckState.CRITICAL,
            "names-0: Pending",
        ),
        (changed(hostNetwork=True), "hostNetwork", CheckState.WARNING, "broker-0 on 192.0.2.1"),
        (changed(terminationGracePeriodSeconds=30), "shortGracePeriod", CheckState.WARNING, "broker-0: 30 s"),
        (changed(containers=[{**CONTAINER, "lifecycle": None}]), "noPreStop", CheckState.WARNING, "broker-0"),
        (
            changed(containers=[{**CONTAINER, "readinessProbe": None}]),
            "noReadinessProbe",
            CheckState.WARNING,
            "broker-0",
        ),
        (changed(volumes=[{"name": "data", "emptyDir": {}}]), "emptyStore", CheckState.CRITICAL, "broker-0"),
        (
            changed(containers=[{**CONTAINER, "volumeMounts": []}]),
            "emptyStore",
            CheckState.CRITICAL,
            "broker-0",
        ),
        (
            changed(volumes=[{"name": "data", "hostPath": {"path": "/data"}}]),
            "hostPathStore",
            CheckState.WARNING,
            "broker-0",
        ),
        (
            [
                *HEALTHY[:3],
                {"kind": "PersistentVolumeClaim", "metadata": {"name": "x"}, "status": {"phase": "Pending"}},
            ],
            "unboundVolume",
            CheckState.CRITICAL,
            "x: Pending",
        ),
    ],
)
def test_a_problem_of_an_object(
    items: list[dict[str, Any]], check: str, state: CheckState, about: str
) -> None:
    check_details = findings(items)
    assert check_details.keys() - {
        "servers",
        "services",
        "volumes",
        "all",
        "foreignAddress",
        "unregistered",
    } == {check}
    assert (check_details[check][0], check_details[check][1][0]) == (state, about)
    assert check_details[check][1][1].startswith("remedy: ")
    assert check_details["all"][0] is state


@pytest.mark.parametrize("addr", [":30971", "x", ":"])
def test_a_broker_that_registered_no_address(addr: str) -> None:
    assert findings(HEALTHY, {addr: "broker-a:0"})["foreignAddress"][1][0] == f"broker-a:0 at {addr}"


def test_a_broker_that_registered_another_address() -> None:
    check_details = findings(HEALTHY, {"192.0.2.99:10911": "broker-a:0"})
    assert check_details["foreignAddress"][1][0] == "broker-a:0 at 192.0.2.99:10911"
    assert check_details["unregistered"][1][0] == "broker-0 at 10.1.0.5"
    assert check_details["all"] == (
        CheckState.WARNING,
        ("0 critical problems, 2 warnings; servers in mq: 2",),
    )


def test_brokers_that_register_through_one_service_for_many_name_servers() -> None:
    items = [
        HEALTHY[0],
        make_pod("names-1", "10.1.0.6", [9876], labels=NAMES),
        HEALTHY[1],
        make_service("names", NAMES, [(9876, 9876)], "10.96.0.1"),
    ]
    assert "sharedNameServers" not in findings(items)
    container = {**CONTAINER, "env": [{"name": "NAMESRV_ADDR", "value": "names.mq.svc:9876"}]}
    items[2] = make_pod("broker-0", "10.1.0.5", labels=BROKER, **{**STORE, "containers": [container]})
    assert findings(items)["sharedNameServers"][1][0] == "broker-0: NAMESRV_ADDR names.mq.svc:9876"


def test_a_broker_of_a_deployment() -> None:
    items = changed()
    items[1]["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "broker"}]
    items[1]["metadata"]["labels"] = {"app": "broker"}
    check_details = findings(items)
    assert check_details["brokerDeployment"][1][0] == "broker-0"
    assert check_details["servers"][1][0].endswith("of ReplicaSet broker")


def test_an_account_without_rights() -> None:
    check_details = findings(HEALTHY, may_forward=False, errors={"persistentvolumeclaims": "is forbidden"})
    assert (check_details["noPortForward"][0], check_details["unreadKind"]) == (
        CheckState.CRITICAL,
        (
            CheckState.UNKNOWN,
            ("persistentvolumeclaims: is forbidden", "remedy: ask for a role with get and list on them"),
        ),
    )


def test_without_registrations_nothing_is_said_about_addresses() -> None:
    check_details = findings(HEALTHY)
    assert check_details["all"][0] is CheckState.OK
    observation = KubeObservation(PodDirectory("mq", HEALTHY), {}, {}, (), None, None, "no answer")
    overall, parts = judge_namespace(CheckScale("kubernetes", DOCTOR_MEASURES), observation)
    assert overall.state is CheckState.UNKNOWN
    [unread] = [part for part in parts if part.state is CheckState.UNKNOWN]
    assert (unread.check, unread.details[0]) == ("unreadRegistrations", "no answer")
