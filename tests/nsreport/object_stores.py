"""Emulators of object stores on loopback: Azurite (npm), and fake-gcs-server (Go) for Google Cloud Storage.

Hadoop's connector for Google Cloud Storage has no setting for its address. So Java gets a proxy that answers
for storage.googleapis.com with a certificate that Java trusts, and passes its requests on to the emulator.
"""

import http.server
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nsreport.runtime import java
from tests.interop import jars
from tests.interop.processes import Child, free_port
from tests.support.certificates import Authority
from tests.support.certificates import CertificatePair as Pair
from tests.support.certificates import run_openssl as openssl

AZURITE = "3.35.0"
FAKE_GCS = "v1.56.1"
ACCOUNT = "null"
"""With an address of its own, the connector has this account in paths of the blob service."""
ACCOUNT_HOST = f"{ACCOUNT}.blob.core.windows.net"
KEY = "bnNhZG1pbi10ZXN0cy1vZi1vYmplY3Qtc3RvcmVzLW9uLWxvb3BiYWNrLW9ubHktMDEyMzQ1Njc4OTAxMjM0NQ=="
_STORAGE_HOST = "storage.googleapis.com"
_PASSWORD = "changeit"


@contextmanager
def azurite(folder: Path) -> Iterator[dict[str, str]]:
    """The settings of Spark for a running emulator."""
    program = jars.cache_root() / f"azurite-{AZURITE}"
    if not program.is_dir():
        install = [
            "npm",
            "install",
            "--no-fund",
            "--no-audit",
            "--prefix",
            str(program),
            f"azurite@{AZURITE}",
        ]
        subprocess.run(install, check=True, capture_output=True, timeout=600)
    port = free_port()
    command = [
        str(program / "node_modules" / ".bin" / "azurite-blob"),
        *("--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"),
        *("--skipApiVersionCheck", "--loose", "--silent", "--disableTelemetry"),
    ]
    child = Child(command, folder / "azurite.log", {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"})
    try:
        child.wait_for_line("successfully listens", 120)
        yield {
            f"spark.hadoop.fs.azure.account.key.{ACCOUNT_HOST}": KEY,
            "spark.hadoop.fs.azure.account.hns.enabled": "false",
            # For the emulator only.
            "spark.hadoop.fs.azure.abfs.endpoint": f"127.0.0.1:{port}",
            "spark.hadoop.fs.azure.always.use.https": "false",
            "spark.hadoop.fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
            "spark.hadoop.fs.azure.createRemoteFileSystemDuringInitialization": "true",
        }
    finally:
        child.kill()


@contextmanager
def google_storage(folder: Path, buckets: Path) -> Iterator[dict[str, str]]:
    """The settings of Spark for an emulator with the objects in a folder of buckets."""
    program = jars.cache_root() / f"fake-gcs-server-{FAKE_GCS}"
    if not program.is_dir():
        source = f"github.com/fsouza/fake-gcs-server@{FAKE_GCS}"
        environment = {**os.environ, "GOBIN": str(program)}
        subprocess.run(
            ["go", "install", source], check=True, capture_output=True, timeout=900, env=environment
        )
    authority = Authority(folder / "ca")
    pair, port = authority.issue("storage", f"DNS:{_STORAGE_HOST}"), free_port()
    command = [
        str(program / "fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port),
        "-public-host", _STORAGE_HOST, "-data", str(buckets), "-backend", "memory",
    ]  # fmt: skip
    child = Child(command, folder / "fake-gcs-server.log")
    try:
        child.wait_for_line("server started", 60)
        with _serve(_tunnel_to(port, pair)) as proxy_port, _serve(_TokenHandler) as token_port:
            key_file = _write_key_file(folder, f"http://127.0.0.1:{token_port}/token")
            java_options = [
                f"-Djavax.net.ssl.trustStore={_write_trust_store(folder, authority.ca)}",
                f"-Djavax.net.ssl.trustStorePassword={_PASSWORD}",
                f"-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort={proxy_port}",
            ]
            yield {
                "spark.hadoop.fs.gs.project.id": "tests",
                "spark.hadoop.fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
                "spark.hadoop.fs.gs.auth.service.account.json.keyfile": str(key_file),
                # For the emulator only.
                "spark.driver.extraJavaOptions": " ".join(java_options),
            }
    finally:
        child.kill()


def _write_key_file(folder: Path, token_uri: str) -> Path:
    """A service account, whose tokens come from the test."""
    private_key, key_file = folder / "account.key", folder / "account.json"
    openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", private_key)
    account = {
        "type": "service_account", "project_id": "tests", "client_id": "1", "private_key_id": "1",
        "client_email": "tests@tests.iam.gserviceaccount.com", "token_uri": token_uri,
        "private_key": private_key.read_text(),
    }  # fmt: skip
    key_file.write_text(json.dumps(account))
    return key_file


def _write_trust_store(folder: Path, ca: Path) -> Path:
    """Java's own authorities, which Maven Central needs, and one more."""
    java_home, trust_store = Path(java.find_java_home(os.environ, folder)), folder / "trust.jks"
    shutil.copyfile(java_home / "lib" / "security" / "cacerts", trust_store)
    command: list[str | Path] = [java_home / "bin" / "keytool", "-importcert", "-noprompt", "-alias", "tests"]
    command += ["-file", ca, "-keystore", trust_store, "-storepass", _PASSWORD]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return trust_store


@contextmanager
def _serve(handler: type[socketserver.BaseRequestHandler]) -> Iterator[int]:
    """The port of a server on loopback."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


class _TokenHandler(http.server.BaseHTTPRequestHandler):
    """Gives a token to everybody."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"access_token": "t", "expires_in": 3600, "token_type": "Bearer"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _tunnel_to(storage_port: int, pair: Pair) -> type[socketserver.BaseRequestHandler]:
    """A CONNECT proxy that leads the host of Google's storage to a port of this machine, without TLS."""
    context = pair.for_servers()

    class Tunnel(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            host, _, port = self.rfile.readline().decode().split()[1].rpartition(":")
            while self.rfile.readline().strip():
                pass
            is_storage = host == _STORAGE_HOST
            target = ("127.0.0.1", storage_port) if is_storage else (host, int(port))
            with socket.create_connection(target, 30) as other_side:
                self.connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                client = (
                    context.wrap_socket(self.connection, server_side=True) if is_storage else self.connection
                )
                with client:
                    threading.Thread(target=_copy, args=(other_side, client), daemon=True).start()
                    _copy(client, other_side)

    return Tunnel


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            # The connector writes //, which the emulator does not know.
            target.sendall(data.replace(b"POST //batch/", b"POST /batch/"))
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
