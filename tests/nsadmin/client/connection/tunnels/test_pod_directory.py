"""Which pod an address leads to."""

import pytest

from nsadmin.client.connection.tunnels.pod_directory import PodDirectory, parse_pod
from tests.support.kube_clusters import make_pod, make_service

BROKER = {"app": "broker"}
DIRECTORY = PodDirectory(
    "mq",
    [
        make_pod("broker-0", "10.1.0.5", [10911, 10909], labels=BROKER, subdomain="brokers"),
        make_pod("broker-1", "10.1.0.6", [10911], labels=BROKER, subdomain="brokers", phase="Pending"),
        make_pod("old-broker", "10.1.0.5", [10911], labels=BROKER, phase="Succeeded"),
        make_pod("agent", "192.0.2.1", [9100], hostNetwork=True),
        make_pod("names-0", "192.0.2.1", [9876], labels={"component": "nameserver"}, hostNetwork=True),
        make_service("brokers", BROKER),
        make_service(
            "front", BROKER, [(20911, "port-10911"), (20909, 10909)], "10.96.0.1", "NodePort", 30911
        ),
        make_service("elsewhere", {}, [(9876, 9876)], "10.96.0.2"),
    ],
)


@pytest.mark.parametrize(
    ("host", "port", "target"),
    [
        ("10.1.0.5", 10911, "broker-0:10911"),
        ("10.1.0.5", 12345, "broker-0:12345"),
        ("10-1-0-6.mq.pod.cluster.local", 10911, "broker-1:10911"),
        ("192.0.2.1", 9876, "names-0:9876"),
        ("192.0.2.1", 9100, "agent:9100"),
        ("broker-1", 10911, "broker-1:10911"),
        ("broker-1.brokers", 10911, "broker-1:10911"),
        ("broker-1.brokers.mq", 10911, "broker-1:10911"),
        ("broker-1.brokers.mq.svc", 10911, "broker-1:10911"),
        ("broker-1.brokers.mq.svc.cluster.local", 10911, "broker-1:10911"),
        ("broker-1.brokers.mq.svc.cluster.local.", 10911, "broker-1:10911"),
        # The services lead to the pod that is ready.
        ("brokers", 10911, "broker-0:10911"),
        ("front", 20911, "broker-0:10911"),
        ("front.mq.svc.example.org", 20909, "broker-0:10909"),
        ("10.96.0.1", 20911, "broker-0:10911"),
        ("192.0.2.1", 30911, "names-0:30911"),
    ],
)
def test_an_address_leads_to_a_pod(host: str, port: int, target: str) -> None:
    pod_port = DIRECTORY.find_target(host, port)
    assert pod_port is not None
    assert f"{pod_port.pod.name}:{pod_port.port}" == target


@pytest.mark.parametrize(
    "host",
    [
        "10.1.0.9",
        "nobody",
        "old-broker",
        "broker-1.brokers.other",
        "broker-1.others",
        "10.96.0.2",
        "brokers.other.svc",
    ],
)
def test_an_address_that_leads_nowhere(host: str) -> None:
    assert DIRECTORY.find_target(host, 10911) is None


def test_a_port_of_a_node_leads_to_the_pod_of_its_service() -> None:
    directory = PodDirectory(
        "mq",
        [
            make_pod("broker-0", "10.1.0.5", [10911], labels=BROKER),
            make_service("front", BROKER, [(20911, "port-10911")], "10.96.0.1", "NodePort", 30911),
        ],
    )
    pod_port = directory.find_target("192.0.2.1", 30911)
    assert pod_port is not None
    assert (pod_port.pod.name, pod_port.port) == ("broker-0", 10911)
    assert directory.find_target("192.0.2.1", 30912) is None


@pytest.mark.parametrize(
    ("item", "roles"),
    [
        (make_pod("a", "", labels={"app": "name_service", "name_service_cr": "a"}), ("namesrv",)),
        (make_pod("a", "", labels={"app": "broker", "broker_cr": "a"}), ("broker",)),
        (
            make_pod("a", "", labels={"app.kubernetes.io/name": "rocketmq", "component": "nameserver"}),
            ("namesrv",),
        ),
        (make_pod("a", "", labels={"app.kubernetes.io/component": "proxy"}), ("proxy",)),
        (make_pod("a", "", [9876]), ("namesrv",)),
        (make_pod("a", "", [9876, 10911]), ("namesrv", "broker")),
        (make_pod("a", "", containers=[{"command": ["sh", "mqproxy"]}]), ("proxy",)),
        (make_pod("a", "", labels={"name": "rocketmq-operator"}), ("operator",)),
        (make_pod("a", "", [80], labels={"app": "shop"}), ()),
    ],
)
def test_the_roles_of_a_pod(item: dict[str, object], roles: tuple[str, ...]) -> None:
    assert parse_pod(item).roles == roles


def test_a_pod_without_any_field() -> None:
    assert parse_pod({"kind": "Pod"}).name == ""
