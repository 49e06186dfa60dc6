"""The API server of Kubernetes 1.32 with etcd, and the port-forward server of a kubelet, from Go modules.

There are no containers: pods are objects of the API, and their ports lead to servers of the test.
"""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from tests.interop.processes import Child, free_port, wait_for

SOURCE = Path(__file__).parent / "kube_server"
NAMESPACE, NODE = "mq", "node-1"
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{port}", insecure-skip-tls-verify: true}}}}]
users: [{{name: root, user: {{token: root-token}}}}, {{name: ops, user: {{token: ops-token}}}}]
contexts:
- {{name: root, context: {{cluster: c, user: root}}}}
- {{name: prod, context: {{cluster: c, user: ops}}}}
current-context: prod
"""
TOKENS = 'root-token,root,1,"system:masters"\nops-token,ops,2\n'


class RealKubernetes:
    """A cluster with one node and the namespace "mq". `variables` make it that of a kubectl.

    The context "prod" is for the user "ops", who has no rights at first. The context "root" has all rights.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self.namespace = NAMESPACE
        self.variables = {"KUBECONFIG": str(folder / "kubeconfig"), "NSADMIN_INVENTORY": "off"}
        self._servers: dict[str, str] = {}

    def __enter__(self) -> Self:
        folder = self._folder
        # About eight minutes of processor time without Go's cache of builds.
        subprocess.run(
            ["go", "build", "-ldflags=-s -w", "-o", folder / "server", "."], cwd=SOURCE, check=True
        )
        key_file = folder / "service-accounts.key"
        subprocess.run(
            ["openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", key_file], check=True
        )
        (folder / "tokens.csv").write_text(TOKENS)
        (folder / "kubeconfig").write_text(KUBECONFIG.format(port=self._port))
        self.connect({})
        options = (
            "--bind-address=127.0.0.1", f"--secure-port={self._port}", f"--cert-dir={folder}/certificates",
            f"--token-auth-file={folder}/tokens.csv", "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key_file}", f"--service-account-signing-key-file={key_file}",
            "--service-cluster-ip-range=10.96.0.0/16", "--kubelet-preferred-address-types=InternalIP",
            # Its controller, which creates the account of each namespace, does not run here.
            "--disable-admission-plugins=ServiceAccount",
        )  # fmt: skip
        command = [str(folder / "server"), str(folder), str(folder / "servers.json"), *options]
        self._child = Child(command, folder / "server.log")
        try:
            wait_for("the API server", self._is_ready, 120, interval=0.5)
            self._prepare(int(self._child.output.splitlines()[0]))
        except BaseException:
            self._child.kill()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._child.kill()

    def _is_ready(self) -> bool:
        command = ["kubectl", "--context=root", "get", "--raw", "/readyz"]
        result = subprocess.run(command, capture_output=True, env=os.environ | self.variables)
        return result.returncode == 0

    def _prepare(self, kubelet_port: int) -> None:
        self.kubectl("create", "namespace", NAMESPACE)
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
        self.create(node)
        node["status"] = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
        }
        self.kubectl(
            "patch", "node", NODE, "--subresource=status", "--type=merge", f"--patch={json.dumps(node)}"
        )

    def kubectl(self, *arguments: str, typed: str | None = None) -> str:
        """Run kubectl with all rights."""
        command = ["kubectl", "--context=root", f"--namespace={self.namespace}", *arguments]
        result = subprocess.run(
            command, capture_output=True, text=True, env=os.environ | self.variables, input=typed
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    def create(self, item: dict[str, Any]) -> None:
        self.kubectl("create", "-f", "-", typed=json.dumps(item))

    def create_pod(self, item: dict[str, Any]) -> None:
        """Create a pod of `kube_clusters.pod` on the node, with its status."""
        name, status = item["metadata"]["name"], item["status"]
        spec = {**item["spec"], "nodeName": NODE}
        spec["containers"] = [{"image": "rocketmq", **container} for container in spec["containers"]]
        metadata = {"name": name, "labels": item["metadata"]["labels"]}
        self.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        self.set_status("pod", name, status)

    def set_status(self, kind: str, name: str, status: dict[str, Any]) -> None:
        patch = json.dumps({"status": status})
        self.kubectl("patch", kind, name, "--subresource=status", "--type=merge", f"--patch={patch}")

    def delete_pod(self, name: str) -> None:
        self.kubectl("delete", "pod", name, "--grace-period=0", "--force")

    def connect(self, servers: dict[str, str]) -> None:
        """Choose the servers that further ports of pods lead to, by "POD:PORT"."""
        self._servers |= servers
        new_file = self._folder / "servers.new"
        new_file.write_text(json.dumps(self._servers))
        new_file.replace(self._folder / "servers.json")

    def list_forwards(self) -> Sequence[str]:
        """The processes of kubectl with this configuration that forward a port."""
        forwards = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            is_ours = f"KUBECONFIG={self.variables['KUBECONFIG']}".encode() in environment
            if is_ours and words[0].endswith(b"kubectl") and b"port-forward" in words:
                forwards.append(folder.name)
        return forwards
