"""--kube and kube doctor on the API server of Kubernetes, with the documented role (make kubectl)."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from nsadmin import Access, AdminClient
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget
from tests.interop import command_line
from tests.interop.our_server import ROOT
from tests.interop.processes import Child, wait_for
from tests.interop.real_kubernetes import NAMESPACE, RealKubernetes
from tests.support.fake_servers import FakeNameServer
from tests.support.kube_clusters import make_pod, make_service

pytestmark = pytest.mark.skipif(
    os.environ.get("NSADMIN_KUBECTL") != "full", reason="builds Kubernetes for minutes: make kubectl"
)
NAMES = {"component": "nameserver"}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        yield running


@pytest.fixture(scope="module")
def kubernetes(tmp_path_factory: pytest.TempPathFactory, server: FakeNameServer) -> Iterator[RealKubernetes]:
    """A name server with a service, and a broker that has not started."""
    if any(shutil.which(program) is None for program in ("go", "kubectl", "openssl")):
        pytest.skip("needs go, kubectl and openssl")
    with RealKubernetes(tmp_path_factory.mktemp("kubernetes")) as running:
        running.create_pod(make_pod("names-0", "10.1.0.4", [9876], labels=NAMES))
        running.create_pod(make_pod("broker-0", "10.1.0.5", [10911], labels={"component": "broker"}))
        names = make_service("names", NAMES, [(9876, 9876)])
        names["apiVersion"] = "v1"
        del names["spec"]["clusterIP"], names["spec"]["clusterIPs"]
        running.create(names)
        running.connect({"names-0:9876": server.addr})
        yield running


def nsadmin(kubernetes: RealKubernetes, addrs: str, *words: str) -> command_line.CommandResult:
    return command_line.nsadmin(addrs, *words, "--kube", f"prod/{NAMESPACE}", env=kubernetes.variables)


def read_documented_role() -> dict[str, Any]:
    page = (ROOT / "docs/how-to/reach-a-cluster.md").read_text()
    documents = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    [role] = [document for document in documents if document["kind"] == "Role"]
    return {**role, "metadata": {"name": "nsadmin", "namespace": NAMESPACE}}


def test_an_account_without_rights_gets_the_reason(kubernetes: RealKubernetes) -> None:
    [row] = nsadmin(kubernetes, "names-0", "where").rows
    assert row["error"].startswith("kubectl prod/mq: Error from server (Forbidden): ")


def test_a_context_that_does_not_exist(kubernetes: RealKubernetes) -> None:
    words = ("where", "--kube", f"nosuch/{NAMESPACE}")
    [row] = command_line.nsadmin("names-0", *words, env=kubernetes.variables).rows
    assert row["error"] == 'kubectl nosuch/mq: context "nosuch" does not exist'


def test_the_documented_role_is_enough(kubernetes: RealKubernetes) -> None:
    kubernetes.create(read_documented_role())
    kubernetes.kubectl("create", "rolebinding", "nsadmin", "--role=nsadmin", "--user=ops")
    service_ip = kubernetes.kubectl("get", "service", "names", "--output=jsonpath={.spec.clusterIP}")
    addrs = ["10.1.0.4:9876", "names.mq.svc:9876", f"{service_ip}:9876", "broker-0:10911"]

    def read_rows() -> list[dict[str, Any]] | None:
        where_rows = nsadmin(kubernetes, ";".join(addrs), "where").rows
        return None if "Forbidden" in str(where_rows) else list(where_rows)

    rows = wait_for("the rights", read_rows, interval=0.5)
    assert [row["reachable"] for row in rows] == [True, True, True, False]
    assert rows[3]["error"] == "kubectl prod/mq: pod broker-0: connection refused"


def test_kube_doctor_examines_the_namespace(kubernetes: RealKubernetes) -> None:
    result = nsadmin(kubernetes, "names-0", "kube", "doctor")
    states = {check["check"]: check["state"] for check in result.rows["checks"]}
    assert states == {
        "servers": "OK",
        "services": "OK",
        "emptyStore": "CRITICAL",
        "unregistered": "WARNING",
        "noPreStop": "WARNING",
        "shortGracePeriod": "WARNING",
        "noReadinessProbe": "WARNING",
        # The role does not include stateful sets and claims of volumes.
        "unreadKind": "UNKNOWN",
    }


def test_kube_doctor_notices_that_ports_may_not_be_forwarded(kubernetes: RealKubernetes) -> None:
    kubernetes.kubectl(
        "patch", "role", "nsadmin", "--type=json", '--patch=[{"op": "remove", "path": "/rules/1"}]'
    )

    def is_noticed() -> bool:
        rows = nsadmin(kubernetes, "names-0", "kube", "doctor").rows
        return "noPortForward" in {check["check"] for check in rows["checks"]}

    wait_for("the loss of the right", is_noticed, interval=0.5)
    kubernetes.kubectl("replace", "-f", "-", typed=json.dumps(read_documented_role()))


def test_a_pod_that_is_created_again_is_found(
    kubernetes: RealKubernetes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in kubernetes.variables.items():
        monkeypatch.setenv(name, value)
    with FakeNameServer() as first, FakeNameServer() as second:
        kubernetes.create_pod(make_pod("again-0", "10.1.0.7", [9876]))
        kubernetes.connect({"again-0:9876": first.addr})
        access = Access(retries=5, tunnel=KubeTarget(NAMESPACE, "prod"))
        with AdminClient("again-0:9876", access=access) as admin:
            assert admin.topics.list_names() == ()
            kubernetes.delete_pod("again-0")
            first.close()
            kubernetes.create_pod(make_pod("again-0", "10.1.0.8", [9876]))
            kubernetes.connect({"again-0:9876": second.addr})
            assert admin.topics.list_names() == ()
            assert second.asked
    wait_for("the end of kubectl", lambda: not kubernetes.list_forwards())


def test_no_kubectl_is_left_after_sigkill(kubernetes: RealKubernetes, tmp_path: Path) -> None:
    words = ("topicList", "--kube", f"prod/{NAMESPACE}", "--watch", "0.2", "--debug")
    command = [sys.executable, "-m", "nsadmin", *words]
    watch = Child(command, tmp_path / "watch.log", {**command_line.ENVIRONMENT, **kubernetes.variables})
    watch.wait_for_line("SUCCESS", 30)
    assert kubernetes.list_forwards()
    watch.kill()
    wait_for("the end of kubectl", lambda: not kubernetes.list_forwards())


def test_kubernetes_accepts_the_chart_and_kube_doctor_finds_nothing(
    kubernetes: RealKubernetes, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pods as the controllers of Kubernetes, which do not run here, would create them."""
    helm = os.environ["HELM"].split()
    values = ("--values=packaging/helm/ci/all-values.yaml", "--set=serviceMonitor.enabled=false")
    chart = subprocess.check_output([*helm, "template", "mq", "packaging/helm", *values], cwd=ROOT, text=True)
    monkeypatch.setattr(kubernetes, "namespace", "chart")
    kubernetes.kubectl("create", "namespace", "chart")
    kubernetes.kubectl("apply", "--server-side", "--filename=-", typed=chart)
    for number, item in enumerate(filter(None, yaml.safe_load_all(chart))):
        name, spec = item["metadata"]["name"], item.get("spec", {})
        if item["kind"] == "PersistentVolumeClaim":
            kubernetes.set_status("pvc", name, {"phase": "Bound"})
        claims = [
            {"name": claim["metadata"]["name"], "emptyDir": {}}
            for claim in spec.get("volumeClaimTemplates", ())
        ]
        for replica in range(spec.get("replicas", 0)):
            template = spec["template"]
            pod_spec = template["spec"] | {"volumes": template["spec"]["volumes"] + claims}
            labels = template["metadata"]["labels"]
            pod = make_pod(f"{name}-{replica}", f"10.2.{number}.{replica}", labels=labels, **pod_spec)
            kubernetes.create_pod(pod)
            kubernetes.connect({f"{name}-{replica}:9876": server.addr})
    words = ("kube", "doctor", "--kube", "root/chart")
    result = command_line.nsadmin("mq-namesrv-0;mq-namesrv-1", *words, env=kubernetes.variables)
    states = {check["check"]: check["state"] for check in result.rows["checks"]}
    assert states == dict.fromkeys(("servers", "services", "volumes"), "OK")
