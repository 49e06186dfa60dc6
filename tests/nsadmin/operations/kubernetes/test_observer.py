"""What kube doctor reads, through the stub of kubectl."""

from pathlib import Path

import pytest

from nsadmin.client import Access, AdminClient
from nsadmin.client.connection.tunnels.tunnel import TunnelError
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget
from nsadmin.operations.kubernetes.observer import KubeObservation, observe_namespace
from tests.support.fake_servers import FakeNameServer
from tests.support.kube_clusters import StubCluster, make_pod

TARGET = KubeTarget("mq")
CLAIM = {"kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StubCluster:
    stub = StubCluster(tmp_path)
    for name, value in stub.variables.items():
        monkeypatch.setenv(name, value)
    stub.items = [make_pod("names-0", "10.1.0.4", [9876]), CLAIM]
    return stub


def observe(cluster: StubCluster, server: FakeNameServer | None = None) -> KubeObservation:
    if server is not None:
        cluster.servers = {"names-0:9876": server.addr}
    cluster.save_objects()
    with AdminClient(access=Access(tunnel=TARGET)) as admin:
        return observe_namespace(TARGET, admin)


def test_objects_rights_kinds_and_registrations_are_read(cluster: StubCluster) -> None:
    cluster.kinds = ["nameservices.rocketmq.apache.org", "brokers.rocketmq.apache.org"]
    with FakeNameServer() as server:
        observation = observe(cluster, server)
    assert [pod.name for pod in observation.directory.pods] == ["names-0"]
    assert (observation.objects["PersistentVolumeClaim"], observation.errors, observation.may_forward) == (
        [CLAIM],
        {},
        True,
    )
    assert observation.operator_kinds == ("brokers.rocketmq.apache.org", "nameservices.rocketmq.apache.org")
    assert (observation.broker_addrs, observation.registry_error) == ({}, None)


def test_what_may_not_be_read_is_noted(cluster: StubCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_FORBIDDEN", "persistentvolumeclaims")
    cluster.may_forward = False
    observation = observe(cluster)
    assert observation.errors.keys() == {"persistentvolumeclaims"}
    assert observation.may_forward is False
    assert observation.broker_addrs is None
    assert "names-0:9876: kubectl mq: pod names-0: connection refused" in str(observation.registry_error)


def test_a_cluster_that_cannot_be_asked(cluster: StubCluster) -> None:
    cluster.error = "error: You must be logged in to the server (Unauthorized)"
    with pytest.raises(TunnelError, match="Unauthorized"):
        observe(cluster)
