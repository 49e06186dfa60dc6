"""kube doctor: formats, exit codes, and a namespace that is missing."""

import json
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.kube_clusters import StubCluster, make_pod


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StubCluster:
    stub = StubCluster(tmp_path)
    for name, value in stub.variables.items():
        monkeypatch.setenv(name, value)
    return stub


def test_findings_have_remedies_and_an_exit_code(run: Run, cluster: StubCluster) -> None:
    with FakeNameServer() as server:
        cluster.items = [
            make_pod("names-0", "10.1.0.4", [9876]),
            make_pod("names-1", "10.1.0.5", [9876], hostNetwork=True),
        ]
        cluster.servers = {"names-0:9876": server.addr, "names-1:9876": server.addr}
        cluster.save_objects()
        result = run("kube", "doctor", "--kube", "mq")
        assert result.code == 1
        assert result.out.splitlines()[0] == "WARNING: 0 critical problems, 1 warning; servers in mq: 2"
        assert "    names-1 on 192.0.2.1" in result.out.splitlines()
        assert "    remedy: use pod addresses or a headless service, and set hostNetwork: false" in result.out
        result = run("kube", "doctor", "--kube", "mq", "--format", "json", "--warning", "~:")
    report = json.loads(result.out)
    assert (result.code, report["check"], report["state"]) == (0, "kubernetes", "OK")
    assert {part["check"]: part["state"] for part in report["checks"]} == {
        "hostNetwork": "WARNING",
        "servers": "OK",
    }


def test_a_cluster_that_cannot_be_asked_is_unknown(run: Run, cluster: StubCluster) -> None:
    cluster.error = "Unable to connect to the server: dial tcp: i/o timeout"
    cluster.save_objects()
    result = run("kube", "doctor", "--kube", "prod/mq")
    assert (result.code, result.out) == (3, f"UNKNOWN: kubectl prod/mq: {cluster.error}\n")


def test_without_a_namespace_it_says_what_to_pass(run: Run) -> None:
    result = run("kube", "doctor", "-n", "127.0.0.1:1")
    assert (result.code, result.err) == (
        3,
        "nsadmin: missing namespace: pass --kube NAMESPACE, or use a context with kube\n",
    )
