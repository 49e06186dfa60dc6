"""TLS and ACL of real servers: a 5.5.0 name server and broker that speak TLS only and demand certificates,
and brokers of 5.5.0 and 4.9.7 that ask everybody who he is.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from namesrv_core.protocol.command import build_request
from nsadmin import Access, AdminClient, Credentials, Tls
from tests.interop import command_line, jars
from tests.interop.cluster import wait_for_broker
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import (
    QUICK_START,
    JavaBroker,
    JavaNameServer,
    MqAdmin,
    acl_config,
    tls_flags,
    write_plain_acl,
    write_properties,
)
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.certificates import Authority, CertificatePair

AUTH_CREATE_USER = 3001
USER = Credentials("operator-1", "a secret of ours")


class Secured(NamedTuple):
    """The cluster behind TLS, and whom its servers know."""

    server: JavaNameServer
    authority: Authority
    operator: CertificatePair
    env: dict[str, str]

    def __call__(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args, env=self.env)

    def trusted(self, *args: str) -> CommandResult:
        operator = ("--tlsCert", str(self.operator.cert), "--tlsKey", str(self.operator.key))
        return self("--tlsCa", str(self.authority.ca), *operator, *args)


class Guarded(NamedTuple):
    """The cluster whose brokers have ACLs; name servers have none."""

    server: OurNameServer
    new: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin
    env: dict[str, str]

    def __call__(self, *args: str, **env: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args, env={**self.env, **env})

    def signed(self, *args: str) -> CommandResult:
        return self(*args, NSADMIN_ACCESS_KEY=USER.access_key, NSADMIN_SECRET_KEY=USER.secret_key)


def alone(home: Path) -> dict[str, str]:
    """An environment with nothing of the user's: no contexts, no credentials."""
    empty = ("NSADMIN_CONTEXT", "NSADMIN_ACCESS_KEY", "NSADMIN_SECRET_KEY", "NSADMIN_SECURITY_TOKEN")
    return {"NSADMIN_CONFIG": str(home / "config.yaml"), "ROCKETMQ_HOME": "", **dict.fromkeys(empty, "")}


@pytest.fixture(scope="module")
def clusters(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Secured, Guarded]]:
    """Both, started at the same time."""
    home = tmp_path_factory.mktemp("security")
    authority = Authority(home / "ca")
    servers, operator = authority.issue("servers"), authority.issue("operator")
    flags = [*QUICK_START, *tls_flags(authority.ca, servers, operator)]
    write_plain_acl(
        home / "old", [{"accessKey": USER.access_key, "secretKey": USER.secret_key, "admin": True}]
    )
    plain = {"tls.server.mode": "disabled"}
    with OurNameServer(home / "ours", plain) as ours, ExitStack() as ends, ThreadPoolExecutor() as pool:
        theirs = JavaNameServer(home / "theirs", jvm_flags=flags)
        behind_tls = JavaBroker(home / "behind", [theirs.address], "broker-tls", jvm_flags=flags)
        new = JavaBroker(home / "new", [ours.address], config=acl_config(USER.access_key, USER.secret_key))
        acl = {"aclEnable": "true"}
        old = JavaBroker(home / "old", [ours.address], "broker-old", version=jars.OLD, config=acl)
        mqadmin = MqAdmin(home / "mqadmin", [ours.address])
        tools = {"accessKey": USER.access_key, "secretKey": USER.secret_key}
        (home / "mqadmin" / "conf").mkdir(parents=True)
        (home / "mqadmin" / "conf" / "tools.yml").write_text(json.dumps(tools))
        for part in pool.map(lambda part: part.__enter__(), (theirs, behind_tls, new, old, mqadmin)):
            ends.push(part)
        secured = Secured(theirs, authority, operator, alone(home))
        guarded = Guarded(ours, new, old, mqadmin, alone(home))
        for broker in (new, old):
            wait_for_broker([ours], broker.name)
        wait_for("brokers that answer", partial(all_answer, secured, guarded))
        yield secured, guarded


def all_answer(secured: Secured, guarded: Guarded) -> bool:
    pair = secured.operator
    tls = Tls(secured.authority.ca, pair.cert, pair.key)
    names = set()
    for addr, access in (
        (secured.server.address, Access(tls=tls)),
        (guarded.server.address, Access(credentials=USER)),
    ):
        with AdminClient(addr, access=access) as admin:
            names |= {
                broker.broker_name for broker in admin.clusters.list_broker_status() if broker.runtime_info
            }
    return names == {"broker-tls", "broker-a", "broker-old"}


@pytest.fixture
def secured(clusters: tuple[Secured, Guarded]) -> Secured:
    return clusters[0]


@pytest.fixture
def guarded(clusters: tuple[Secured, Guarded]) -> Guarded:
    return clusters[1]


def test_commands_go_through_tls_to_name_server_and_broker(secured: Secured) -> None:
    result = secured.trusted("updateTopic", "Behind", "-c", "DefaultCluster", "-r", "3", "-w", "2")
    assert (result.code, result.err) == (0, "")
    assert [(row["brokerName"], row["result"]) for row in result.rows] == [("broker-tls", "done")]
    wait_for("its route", lambda: secured.trusted("topicRoute", "Behind").code == 0)
    [route] = secured.trusted("topicRoute", "Behind").rows
    assert (route["brokerName"], route["readQueueNums"], route["writeQueueNums"]) == ("broker-tls", 3, 2)
    result = secured.trusted("clusterList")
    assert (result.code, result.err) == (0, "")
    assert [(row["brokerName"], row["version"]) for row in result.rows] == [("broker-tls", "V5_5_0")]


def test_each_wrong_setting_of_tls_gives_its_own_line(secured: Secured, tmp_path: Path) -> None:
    stranger = Authority(tmp_path / "stranger", "another CA")
    unknown = stranger.issue("operator")
    ca, (cert, key) = str(secured.authority.ca), map(str, secured.operator)
    own = ("--tlsCert", cert, "--tlsKey", key)
    for options, code, message in (
        ((), 4, "closed the connection without an answer; if the server requires TLS, use --tls"),
        (("--tls",), 4, 'its certificate is signed by "test CA", not by a trusted CA'),
        (("--tlsCa", str(stranger.ca)), 4, "pass the CA file with --tlsCa FILE"),
        (("--tlsCa", ca), 4, "requires a client certificate: pass --tlsCert and --tlsKey"),
        (("--tlsCa", ca, "--tlsCert", str(unknown.cert), "--tlsKey", str(unknown.key)), 4,
         "rejects the client certificate"),
        (("--tlsCa", ca, *own, "--tlsServerName", "broker.example"), 4,
         "its certificate names DNS localhost, IP Address 127.0.0.1"),
        (("--tlsCa", ca, "--tlsCert", cert, "--tlsKey", str(unknown.key)), 2,
         "does not match the certificate"),
        (("--tlsCa", f"{ca}.not"), 2, "cannot read the TLS CA file"),
    ):  # fmt: skip
        result = secured(*options, "clusterList")
        assert (result.code, result.rows) == (code, None), result
        assert message in result.err, (options, result.err)
        assert len(result.err.splitlines()) == 1


def test_without_verification_it_works_and_is_said_loudly(secured: Secured) -> None:
    cert, key = map(str, secured.operator)
    result = secured("--insecure", "--tlsCert", cert, "--tlsKey", key, "clusterList")
    assert result.code == 0
    assert [row["brokerName"] for row in result.rows] == ["broker-tls"]
    assert "insecure" in result.err.lower()


def test_tls_to_a_server_that_speaks_none(guarded: Guarded) -> None:
    result = guarded("--tls", "clusterList")
    assert result.code == 4
    assert "closed the connection during the TLS handshake; if it does not use TLS, omit --tls" in result.err


def test_signed_commands_succeed_on_both_generations(guarded: Guarded) -> None:
    result = guarded.signed("updateTopic", "Signed", "-c", "DefaultCluster", "-r", "3", "-w", "3")
    assert (result.code, result.err) == (0, "")
    assert [(row["brokerName"], row["result"]) for row in result.rows] == [
        ("broker-a", "done"),
        ("broker-old", "done"),
    ]
    result = guarded.signed("clusterList")
    assert (result.code, result.err) == (0, "")
    assert {row["brokerName"]: row["version"] for row in result.rows} == {
        "broker-a": "V5_5_0",
        "broker-old": "V4_9_7",
    }


@pytest.mark.parametrize("broker", ["broker-a", "broker-old"])
def test_bodies_and_every_kind_of_query_are_signed(guarded: Guarded, broker: str) -> None:
    guarded.signed("updateTopic", "Bodies", "-c", "DefaultCluster")
    wait_for("its route", lambda: len(guarded.signed("topicRoute", "Bodies").rows or ()) == 2)
    result = guarded.signed(
        "sendMessage", "-t", "Bodies", "-p", "Türkei 😀", "-k", "K-1", "-b", broker, "-i", "0"
    )
    assert result.code == 0, result
    [sent] = result.rows

    def found(*query: str) -> Callable[[], bool]:
        return lambda: [row["body"] for row in guarded.signed(*query).rows or ()] == ["Türkei 😀"]

    wait_for("by unique key", found("queryMsgByUniqueKey", "-t", "Bodies", "-i", sent["msgId"]))


def test_unsigned_and_wrongly_signed_requests_are_refused_in_the_brokers_own_words(guarded: Guarded) -> None:
    wrong = {"NSADMIN_ACCESS_KEY": USER.access_key, "NSADMIN_SECRET_KEY": "another secret"}
    nobody = {"NSADMIN_ACCESS_KEY": "nobody-1", "NSADMIN_SECRET_KEY": "another secret"}
    words: tuple[tuple[dict[str, str], str, str], ...] = (
        ({}, "username cannot be null.", "AclException: No accessKey is configured"),
        (wrong, "check signature failed.", "AclException: Check signature failed for accessKey=operator-1"),
        (nobody, "User:nobody-1 is not found.", "AclException: No acl config for nobody-1"),
    )
    for env, new, old in words:
        result = guarded("updateTopic", "Refused", "-c", "DefaultCluster", **env)
        assert result.code == 1
        results = {row["brokerName"]: row["error"] for row in result.rows}
        assert results["broker-a"] == f"NO_PERMISSION (16): {new}"
        assert old in results["broker-old"]
        assert "the server checks credentials" in result.err
        assert "another secret" not in str(result)


def test_who_is_known_but_may_not_is_told_so_by_the_broker(guarded: Guarded) -> None:
    reader, body = Credentials("reader-1", "a secret of his"), {"userType": "Normal"}
    with AdminClient(guarded.server.address, access=Access(credentials=USER)) as admin:
        user = json.dumps({"username": reader.access_key, "password": reader.secret_key, **body}).encode()
        asked = build_request(AUTH_CREATE_USER, {"username": reader.access_key}, user)
        [created] = admin._caller.send_requests([(guarded.new.address, asked)])
        assert created.error is None
    env = {"NSADMIN_ACCESS_KEY": reader.access_key, "NSADMIN_SECRET_KEY": reader.secret_key}
    result = guarded("updateTopic", "Denied", "-b", guarded.new.address, **env)
    assert result.code == 1
    [row] = result.rows
    assert row["error"].startswith(
        "NO_PERMISSION (16): User:reader-1 has no permission to access Topic:Denied"
    )


def test_half_a_pair_is_a_mistake_of_the_command_line(guarded: Guarded) -> None:
    result = guarded("clusterList", NSADMIN_ACCESS_KEY="operator-1")
    assert result.code == 2
    assert result.err == "nsadmin: the environment has NSADMIN_ACCESS_KEY without NSADMIN_SECRET_KEY\n"


def test_the_tools_yml_of_mqadmin_serves_both(guarded: Guarded) -> None:
    home = guarded.mqadmin.home
    (home / "conf" / "tools.yml").chmod(0o600)
    ours = guarded("clusterList", ROCKETMQ_HOME=str(home))
    assert (ours.code, ours.err) == (0, "")
    theirs = guarded.mqadmin("clusterList")
    for row in ours.rows:
        assert f"{row['brokerName']} " in theirs
        assert row["version"] in theirs
    guarded.mqadmin("updateTopic", "-t", "Theirs", "-c", "DefaultCluster", "-r", "5", "-w", "5")
    wait_for("its route", lambda: len(guarded("topicRoute", "Theirs").rows or ()) == 2)
    routes = guarded("topicRoute", "Theirs").rows
    assert {row["brokerName"]: row["readQueueNums"] for row in routes} == {"broker-a": 5, "broker-old": 5}


def test_a_file_of_credentials(guarded: Guarded, tmp_path: Path) -> None:
    file = write_properties(tmp_path / "key", {"accessKey": USER.access_key, "secretKey": USER.secret_key})
    file.chmod(0o600)
    result = guarded("--credentials", f"file:{file}", "brokerStatus", "-b", guarded.new.address)
    assert result.code == 0
    file.chmod(0o644)
    result = guarded("--credentials", f"file:{file}", "brokerStatus", "-b", guarded.new.address)
    assert (result.code, result.rows) == (2, None)
    assert (
        result.err
        == f"nsadmin: all users of this machine can read the secret in {file}: run `chmod 600 {file}`\n"
    )


def test_no_secret_is_shown_by_debug(guarded: Guarded) -> None:
    result = guarded.signed("--debug", "updateTopic", "Debugged", "-c", "DefaultCluster")
    assert result.code == 0
    assert "UPDATE_AND_CREATE_TOPIC" in result.err
    assert USER.secret_key not in result.err
    assert "Signature" not in result.err


def test_a_security_token_is_part_of_what_is_signed(guarded: Guarded) -> None:
    access = Access(credentials=USER._replace(security_token="token of one day"))
    with AdminClient(guarded.server.address, access=access) as admin:
        assert all(broker.runtime_info for broker in admin.clusters.list_broker_status())
