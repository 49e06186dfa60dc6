"""TLS of our name server, asked by others: a 5.5.0 broker, clients and mqadmin that speak nothing else, and
`openssl s_client`; certificates renewed under them, and each that has to be refused.
"""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.interop import command_line
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, JavaBroker, LiveClients, MqAdmin, tls_flags
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.certificates import Authority, CertificatePair

TOPIC = "Behind"
PASSWORD = "a password of ours"


class Far(NamedTuple):
    """A server that demands TLS and client certificates, and who talks to it."""

    server: OurNameServer
    authority: Authority
    operator: CertificatePair
    mqadmin: MqAdmin
    stranger: MqAdmin
    clients: LiveClients
    home: Path


class Open(NamedTuple):
    """A server as it is without any setting, and an mqadmin of upstream's test mode."""

    server: OurNameServer
    plain: MqAdmin
    secured: MqAdmin


def server_files(authority: Authority, pair: CertificatePair, home: Path) -> dict[str, object]:
    """The settings of a server with this pair, whose key is behind a password."""
    put(authority, pair, home)
    return {
        "tls.server.mode": "enforcing",
        "tls.server.certPath": home / "server.pem",
        "tls.server.keyPath": home / "server.key",
        "tls.server.keyPassword": PASSWORD,
        "tls.server.need.client.auth": "require",
        "tls.server.authClient": "true",
        "tls.server.trustCertPath": authority.ca,
    }


def put(authority: Authority, pair: CertificatePair, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(authority.lock_key(pair, PASSWORD), home / "server.key")
    shutil.copy(pair.cert, home / "server.pem")


@pytest.fixture(scope="module")
def worlds(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Far, Open]]:
    """Both, their JVMs started at the same time."""
    home = tmp_path_factory.mktemp("tls")
    authority, another = Authority(home / "ca"), Authority(home / "another", "another CA")
    operator, brokers = authority.issue("operator"), authority.issue("brokers")
    flags = tls_flags(authority.ca, brokers, operator)
    config = server_files(authority, authority.issue("first"), home / "files")
    with (
        OurNameServer(home / "far", config) as far,
        OurNameServer(home / "open") as open_,
        ExitStack() as ends,
    ):
        broker = JavaBroker(home / "broker", [far.address], "broker-tls", jvm_flags=[*QUICK_START, *flags])
        mqadmin = MqAdmin(home / "mqadmin", [far.address], flags=flags)
        distrust = tls_flags(another.ca, brokers, another.issue("operator"))
        stranger = MqAdmin(home / "stranger", [far.address], flags=distrust)
        plain = MqAdmin(home / "plain", [open_.address])
        test_mode = MqAdmin(home / "test-mode", [open_.address], flags=["-Dtls.enable=true"])
        with ThreadPoolExecutor() as pool:
            for part in pool.map(
                lambda part: part.__enter__(), (broker, mqadmin, stranger, plain, test_mode)
            ):
                ends.push(part)
        world = Far(far, authority, operator, mqadmin, stranger, None, home)  # type: ignore[arg-type]
        wait_for("broker-tls", lambda: trusted(world, "clusterList").rows)
        assert "success" in mqadmin("updateTopic", "-c", "DefaultCluster", "-t", TOPIC)
        wait_for("its route", lambda: trusted(world, "topicRoute", TOPIC).code == 0)
        clients = ends.enter_context(LiveClients(home / "clients", far.address, TOPIC, flags=flags))
        yield world._replace(clients=clients), Open(open_, plain, test_mode)


@pytest.fixture
def far(worlds: tuple[Far, Open]) -> Far:
    return worlds[0]


@pytest.fixture
def open_(worlds: tuple[Far, Open]) -> Open:
    return worlds[1]


def trusted(far: Far, *args: str) -> CommandResult:
    cert, key = map(str, far.operator)
    options = ("--tlsCa", str(far.authority.ca), "--tlsCert", cert, "--tlsKey", key)
    return command_line.nsadmin(far.server.address, *options, *args)


def s_client(server: OurNameServer, *options: object) -> tuple[int, str]:
    """Exit code and output of `openssl s_client`, which says what it made of the connection and goes."""
    command = ["openssl", "s_client", "-connect", server.address, *map(str, options)]
    result = subprocess.run(command, input="", capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout + result.stderr


def with_certificate(far: Far) -> list[object]:
    cert, key = far.operator
    return ["-CAfile", far.authority.ca, "-cert", cert, "-key", key, "-verify_return_error"]


def test_broker_clients_and_mqadmin_of_5_5_0_speak_tls_with_our_server(far: Far) -> None:
    listed = far.mqadmin("clusterList")
    assert re.search(r"broker-tls\s+0\s+127\.0\.0\.1:\d+\s+V5_5_0", listed), listed
    assert '"brokerName":"broker-tls"' in far.mqadmin("topicRoute", "-t", TOPIC)
    far.clients.order("send 20")
    assert far.clients.order("wait 20") == 20


@pytest.mark.parametrize(("flag", "version"), [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
def test_openssl_agrees_about_versions_chain_and_name(far: Far, flag: str, version: str) -> None:
    code, openssl_output = s_client(far.server, *with_certificate(far), flag, "-verify_hostname", "localhost")
    assert code == 0, openssl_output
    assert f"Protocol  : {version}" in openssl_output or f"New, {version}" in openssl_output
    assert "Verification: OK" in openssl_output
    assert "Verified peername: localhost" in openssl_output


def test_openssl_refuses_another_name_and_an_unknown_authority(far: Far) -> None:
    code, openssl_output = s_client(far.server, *with_certificate(far), "-verify_hostname", "broker.example")
    assert (code, "hostname mismatch" in openssl_output) == (1, True), openssl_output
    code, openssl_output = s_client(
        far.server, "-CAfile", far.home / "another" / "ca.pem", "-verify_return_error"
    )
    assert code == 1
    assert "certificate verify failed" in openssl_output


def test_who_shows_no_certificate_or_a_stranger_s_is_refused_and_logged(far: Far) -> None:
    # With TLS 1.3 a client learns of it later than of the end of the handshake.
    _, output = s_client(far.server, "-CAfile", far.authority.ca, "-tls1_2")
    assert "alert" in output
    wait_for("its line", lambda: "the client presented no certificate" in far.server.child.output)
    stderr = far.stranger("clusterList")
    assert "broker-tls" not in stderr
    assert "ClusterListSubCommand command failed" in stderr
    wait_for("its line", lambda: "does not trust this server's certificate" in far.server.child.output)
    result = command_line.nsadmin(far.server.address, "--tlsCa", str(far.authority.ca), "clusterList")
    assert (result.code, result.rows) == (4, None)
    assert "requires a client certificate: pass --tlsCert and --tlsKey" in result.err


def test_plain_text_is_refused_and_logged(far: Far) -> None:
    result = command_line.nsadmin(far.server.address, "clusterList")
    assert result.code == 4
    assert "if the server requires TLS, use --tls" in result.err
    far.server.child.wait_for_line("the client sent plain text, but this server requires TLS", 20)


def subject(far: Far) -> str:
    _, openssl_output = s_client(far.server, *with_certificate(far))
    return openssl_output.partition("subject=")[2].partition("\n")[0].replace(" ", "")


def test_a_renewed_certificate_reaches_new_connections_and_drops_none(far: Far) -> None:
    far.clients.order("send 5")
    log = far.server.child
    for name, signalled in (("second", False), ("third", True)):
        fresh = far.authority.issue(name)
        put(far.authority, fresh, far.home / "files")
        if signalled:
            log._process.send_signal(signal.SIGHUP)
        wait_for(f"{name} in the log", partial(log.wait_for_line, f'certificate of "{name}"', 1))
        assert subject(far) == f"CN={name}"
    other = far.authority.issue("fourth")
    shutil.copy(other.cert, far.home / "files" / "server.pem")
    log.wait_for_line("does not match the certificate", 30)
    assert subject(far) == "CN=third"
    put(far.authority, other, far.home / "files")
    log.wait_for_line('certificate of "fourth"', 30)
    # Whoever was connected is as it was: nobody left, and what they ask is answered.
    assert "BrokerUnregistered" not in log.output
    assert "broker-tls" in far.mqadmin("clusterList", "-n", far.server.address)
    before = far.clients.order("wait 0")
    far.clients.order("send 5")
    assert far.clients.order(f"wait {before + 5}") >= before + 5


def test_a_password_is_neither_shown_nor_lost(far: Far) -> None:
    result = trusted(far, "getNamesrvConfig")
    items = {row["key"]: row["value"] for row in result.rows}
    assert items["tls.server.mode"] == "enforcing"
    assert PASSWORD not in str(result.rows)
    assert trusted(far, "updateNamesrvConfig", "--yes", "-k", "enableTopicList", "-v", "true").code == 0
    assert f"tls.server.keyPassword={PASSWORD}" in far.server.config_file.read_text().replace("\\ ", " ")
    refused = trusted(far, "updateNamesrvConfig", "--yes", "-k", "tls.server.mode", "-v", "disabled")
    assert refused.code != 0
    assert "the server forbids this" in refused.err
    assert PASSWORD not in far.server.child.output


@pytest.mark.parametrize(
    ("days", "names", "said"),
    [
        (-1, "DNS:localhost,IP:127.0.0.1", "its certificate has expired on 20"),
        (2, "DNS:elsewhere.example", "its certificate names DNS elsewhere.example, not 127.0.0.1"),
    ],
)
def test_a_server_with_a_certificate_that_will_not_do_runs_and_is_refused(
    far: Far, tmp_path: Path, days: int, names: str, said: str
) -> None:
    pair = far.authority.issue("unfit", names, days)
    config = {**server_files(far.authority, pair, tmp_path / "files"), "tls.server.need.client.auth": "none"}
    with OurNameServer(tmp_path / "home", config) as server:
        result = command_line.nsadmin(server.address, "--tlsCa", str(far.authority.ca), "clusterList")
        assert result.code == 4
        assert said in result.err
        check = ("-CAfile", far.authority.ca, "-verify_return_error", "-verify_hostname", "localhost")
        code, output = s_client(server, *check)
        assert code != 0
        assert ("certificate has expired" if days < 0 else "hostname mismatch") in output.lower()
        # Java looks at the chain and at its time, not at the name.
        listed = far.mqadmin("clusterList", "-n", server.address)
        assert ("command failed" in listed) == (days < 0), listed
        if days < 0:
            assert "this certificate has expired" in server.child.output


@pytest.mark.parametrize(
    ("protocol", "cipher", "shown", "other"),
    [
        ("TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", "-tls1_3"),
        ("TLSv1.3", "", "TLS_AES_256_GCM_SHA384", "-tls1_2"),
    ],
)
def test_java_and_openssl_speak_the_one_version_and_cipher_that_there_is(
    far: Far, tmp_path: Path, protocol: str, cipher: str, shown: str, other: str
) -> None:
    pair = far.authority.issue("narrow")
    only = {"tls.protocols": protocol, **({"tls.ciphers": cipher} if cipher else {})}
    files = server_files(far.authority, pair, tmp_path / "files")
    with OurNameServer(tmp_path / "home", {**files, **only}) as server:
        code, openssl_output = s_client(server, *with_certificate(far))
        assert code == 0, openssl_output
        assert f"New, {protocol}, Cipher is {shown}" in openssl_output
        code, openssl_output = s_client(server, *with_certificate(far), other)
        assert code == 1
        assert "alert" in openssl_output
        if cipher:
            code, openssl_output = s_client(
                server, *with_certificate(far), "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"
            )
            assert code == 1
        server.child.wait_for_line("the client shares no TLS version or cipher with this server", 20)
        put = ("updateKvConfig", "-n", server.address, "-s", "n", "-k", "k", "-v", protocol)
        assert "success" in far.mqadmin(*put)


def test_without_any_setting_plain_text_and_upstream_s_test_mode_are_both_understood(open_: Open) -> None:
    put = ("updateKvConfig", "-s", "namespace", "-k")
    assert "create or update kv config to namespace success" in open_.plain(*put, "plain", "-v", "1")
    assert "create or update kv config to namespace success" in open_.secured(*put, "tls", "-v", "2")
    assert (open_.server.home / "kvConfig.json").read_text().count('"plain"') == 1
    assert '"tls"' in (open_.server.home / "kvConfig.json").read_text()
    assert "using a self-signed certificate (test mode)" in open_.server.child.output
    _, openssl_output = s_client(open_.server)
    assert "BEGIN CERTIFICATE" in openssl_output
