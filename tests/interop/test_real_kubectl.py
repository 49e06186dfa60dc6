"""The real kubectl, and the port-forward server of the kubelet behind a small API (make kubectl)."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import command_line
from tests.interop.processes import Child, wait_for
from tests.support.kube_clusters import pod, service
from tests.support.servers import FakeNameServer

pytestmark = pytest.mark.skipif(
    os.environ.get("NSADMIN_KUBECTL") != "full", reason="builds a program of Go for minutes: make kubectl"
)
NAMES = {"component": "nameserver"}
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "http://{addr}"}}}}]
users: [{{name: u, user: {{}}}}]
contexts: [{{name: prod, context: {{cluster: c, user: u}}}}]
current-context: prod
"""


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables of a kubectl that sees one name server, and a pod with a closed port."""
    folder = tmp_path_factory.mktemp("kubectl")
    if shutil.which("kubectl") is None or shutil.which("go") is None:
        pytest.skip("needs kubectl and go")
    source = Path(__file__).parent / "kube_api"
    subprocess.run(["go", "build", "-o", folder / "kube_api", "."], cwd=source, check=True)
    with FakeNameServer() as server:
        items = [
            pod("names-0", "10.1.0.4", [9876], labels=NAMES),
            pod("other-0", "10.1.0.5", [10911]),
            service("names", NAMES, [(9876, 9876)], "10.96.0.1"),
        ]
        cluster = {"items": items, "servers": {"names-0:9876": server.addr}}
        (folder / "cluster.json").write_text(json.dumps(cluster))
        api = Child([str(folder / "kube_api"), str(folder / "cluster.json")], folder / "api.log")
        addr = api.wait_for_line("127.0.0.1:", 20)
        (folder / "kubeconfig").write_text(KUBECONFIG.format(addr=addr))
        yield {"KUBECONFIG": str(folder / "kubeconfig"), "NSADMIN_INVENTORY": "off"}
        api.kill()


def test_each_address_is_reached_and_a_closed_port_reported(variables: dict[str, str]) -> None:
    addrs = "10.1.0.4:9876;names.mq.svc:9876;10.96.0.1:9876;other-0:10911"
    rows = command_line.nsadmin(addrs, "where", "--kube", "prod/mq", env=variables).rows
    assert [row["reachable"] for row in rows] == [True, True, True, False]
    assert rows[3]["error"] == "kubectl prod/mq: pod other-0: connection refused"


def test_a_context_that_does_not_exist(variables: dict[str, str]) -> None:
    [row] = command_line.nsadmin("names-0", "where", "--kube", "nosuch/mq", env=variables).rows
    assert row["error"] == 'kubectl nosuch/mq: context "nosuch" does not exist'


def test_no_kubectl_is_left_after_sigkill(variables: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nsadmin", "topicList", "--kube", "mq", "--watch", "0.2", "--debug"]
    watch = Child(command, tmp_path / "watch.log", {**command_line.ENVIRONMENT, **variables})
    watch.wait_for_line("SUCCESS", 30)
    forwards = list_forwards(variables["KUBECONFIG"])
    assert forwards
    watch.kill()
    wait_for("the end of kubectl", lambda: not list_forwards(variables["KUBECONFIG"]), 10)


def list_forwards(kubeconfig: str) -> list[str]:
    """The processes of kubectl with this configuration."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if words[0].endswith(b"kubectl") and f"KUBECONFIG={kubeconfig}".encode() in environment:
            found.append(folder.name)
    return found
