"""A name server that asks everybody who he is: brokers, clients, mqadmin of both generations."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nsadmin import Access, AdminClient, Credentials
from tests.interop import command_line, jars, wire
from tests.interop.cluster import create_topic
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import QUICK_START, JavaBroker, MqAdmin, temporary_files, tls_flags
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.interop.tap import Tap
from tests.support.certificates import Authority

OPS = Credentials("operator-1", "a secret of ours")
APP = Credentials("application-1", "a secret of theirs")
MONITOR = Credentials("monitor-1", "a secret that looks on")
AWAY = Credentials("operator-2", "a secret from elsewhere")
BROKER = Credentials("brokers-1", "a secret of brokers")


def account(credentials: Credentials, role: str, **more: object) -> dict[str, object]:
    return {
        "accessKey": credentials.access_key, "secretKey": credentials.secret_key, "role": role, **more
    }  # fmt: skip


ALLOWED: dict[str, Any] = {
    "accounts": [
        account(OPS, "admin", **{"from": ["127.0.0.0/8"]}),
        account(APP, "read"),
        account(MONITOR, "observer", **{"from": ["127.0.0.1"]}),
        account(AWAY, "admin", **{"from": ["10.0.0.0/8", "192.168.1.0/24"]}),
        account(BROKER, "broker", clusters=["DefaultCluster"], addresses=["127.0.0.0/8"]),
    ]
}


class Guarded(NamedTuple):
    """The new broker signs and is heard through a tap; the old one cannot sign."""

    server: OurNameServer
    credentials: Path
    tap: Tap
    new: JavaBroker
    old: JavaBroker
    mqadmin: MqAdmin
    old_mqadmin: MqAdmin
    env: dict[str, str]

    def __call__(self, *args: str, **env: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args, env={**self.env, **env})

    def by(self, who: Credentials, *args: str) -> CommandResult:
        return self(*args, NSADMIN_ACCESS_KEY=who.access_key, NSADMIN_SECRET_KEY=who.secret_key)

    def brokers(self) -> dict[str, str]:
        """The cluster of each broker that the name server knows."""
        with AdminClient(self.server.address, access=Access(credentials=OPS)) as admin:
            return {
                group.broker_name: group.cluster_name for group in admin.clusters.get_info().broker_groups
            }

    def value(self, key: str) -> str:
        """What the KV config has."""
        with AdminClient(self.server.address, access=Access(credentials=OPS)) as admin:
            return admin.kv.get_value("Guarded", key)

    def allow(self, rules: Mapping[str, Any]) -> None:
        """Have the name server read other rules, as it does by itself."""
        before = self.server.child.output.count("reloaded ")
        write(self.credentials, rules)
        wait_for("the file to be read", lambda: self.said("reloaded ") > before)

    def said(self, text: str) -> int:
        return self.server.child.output.count(text)


def write(path: Path, value: object) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(value))
    fresh.chmod(0o600)
    fresh.replace(path)


def tools(home: Path, who: Credentials) -> None:
    """The tools.yml of an mqadmin."""
    (home / "conf").mkdir(parents=True, exist_ok=True)
    write(home / "conf" / "tools.yml", {"accessKey": who.access_key, "secretKey": who.secret_key})


@pytest.fixture(scope="module")
def guarded(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    home = tmp_path_factory.mktemp("guarded")
    credentials = home / "credentials.json"
    write(credentials, ALLOWED)
    unset = ("NSADMIN_CONTEXT", "NSADMIN_ACCESS_KEY", "NSADMIN_SECRET_KEY", "NSADMIN_SECURITY_TOKEN")
    env = {"NSADMIN_CONFIG": str(home / "config.yaml"), "ROCKETMQ_HOME": "", **dict.fromkeys(unset, "")}
    often = {"registerNameServerPeriod": 10_000}
    # All the kinds of requests that a broker may send to a name server.
    talkative: dict[str, object] = {
        **often, "forceRegister": "false", "enableSlaveActingMaster": "true",
        "compatibleWithOldNameSrv": "false", "enableSingleTopicRegister": "true",
        # It demands no credentials itself, but does not start with some of its own and no place for others.
        "authenticationMetadataProvider": (
            "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider"
        ),
        "innerClientAuthenticationCredentials": json.dumps(
            {"accessKey": BROKER.access_key, "secretKey": BROKER.secret_key}
        ),
    }  # fmt: skip
    authority = Authority(home / "ca")
    server_certificate, client = authority.issue("name server"), authority.issue("old-ops")
    tls = {
        "tls.server.certPath": server_certificate.cert, "tls.server.keyPath": server_certificate.key,
        "tls.server.trustCertPath": authority.ca, "tls.server.authClient": "true",
        "tls.server.need.client.auth": "optional",
    }  # fmt: skip
    rules = {"credentialsFile": credentials, "scanNotActiveBrokerInterval": 500}
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server", {**rules, **tls}))
        tap = ends.enter_context(Tap(server.address))
        new = JavaBroker(home / "new", [tap.address], config=talkative)
        old = JavaBroker(home / "old", [server.address], "broker-old", "Old", version=jars.OLD, config=often)
        mqadmin = MqAdmin(home / "mqadmin", [server.address])
        # It speaks TLS and shows a certificate, the others do neither.
        flags = tls_flags(authority.ca, server_certificate, client)
        old_mqadmin = MqAdmin(home / "old-mqadmin", [server.address], jars.OLD, flags)
        for part in pool.map(lambda part: part.__enter__(), (new, old, mqadmin, old_mqadmin)):
            ends.push(part)
        guarded_cluster = Guarded(server, credentials, tap, new, old, mqadmin, old_mqadmin, env)
        wait_for("the broker that signs", lambda: "broker-a" in guarded_cluster.brokers())
        yield guarded_cluster


def test_a_5_5_0_broker_signs_whatever_it_says_to_a_name_server(guarded: Guarded) -> None:
    create_topic(guarded.new.port, "Signed")
    wait_for("its route", lambda: guarded.by(APP, "topicRoute", "Signed").code == 0)
    # Registration, one topic by itself, "has anything changed?", heartbeat, members of the group.
    wanted = {103, 217, 322, 904, 901}
    wait_for("each kind of request", lambda: wanted <= {f.command.code for f in guarded.tap.frames})
    broker_requests = [frame.command for frame in guarded.tap.frames]
    assert {command.code for command in broker_requests} - wanted <= {105, 106}
    assert {(command.ext or {}).get("AccessKey") for command in broker_requests} == {BROKER.access_key}
    assert guarded.said(BROKER.access_key) == 0


def test_a_4_9_7_broker_signs_nothing_and_is_let_in_by_its_network(guarded: Guarded) -> None:
    wait_for("its refusal", lambda: guarded.said("refused REGISTER_BROKER from 127.0.0.1 (unsigned"))
    assert guarded.brokers() == {"broker-a": "DefaultCluster"}
    near = {"network": "127.0.0.0/8", "role": "broker"}
    guarded.allow({**ALLOWED, "networks": [{**near, "clusters": ["Old"]}]})
    try:
        wait_for("its registration", lambda: guarded.brokers().get("broker-old") == "Old")
    finally:
        guarded.allow(ALLOWED)


def client(guarded: Guarded, home: Path, *key: str) -> str:
    """What the Java client says of sending and consuming ten messages, and writes into its logs."""
    home.mkdir()
    flags = [*QUICK_START, "-Xmx256m", f"-Duser.home={home}", *temporary_files(home)]
    command = ["java", *flags, *jars.program("Clients"), guarded.server.address, "Signed", "10", *key]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=home, env=os.environ)
    return "".join([result.stdout, result.stderr, *(log.read_text() for log in home.rglob("*.log"))])


def test_a_java_client_works_with_its_key_and_says_what_it_is_refused_without(
    guarded: Guarded, tmp_path: Path
) -> None:
    create_topic(guarded.new.port, "Signed")
    wait_for("its route", lambda: guarded.by(APP, "topicRoute", "Signed").code == 0)
    assert "sent 10 received 10" in client(guarded, tmp_path / "known", *APP[:2])
    for home, key, why in (
        ("wrong", (APP.access_key, "another secret"), "check signature failed."),
        ("unsigned", (), "username cannot be null. GET_ROUTEINFO_BY_TOPIC needs the role read"),
    ):
        client_output = client(guarded, tmp_path / home, *key)
        assert "No route info of this topic: Signed" in client_output
        assert f"CODE: 16  DESC: {why}" in client_output


@pytest.mark.parametrize("release", ["mqadmin", "old_mqadmin"])
def test_mqadmin_signs_with_its_tools_yml(guarded: Guarded, release: str) -> None:
    mqadmin = guarded.mqadmin if release == "mqadmin" else guarded.old_mqadmin
    put = ("updateKvConfig", "-s", "Guarded", "-k", release, "-v", "it was")
    tools(mqadmin.home, OPS)
    assert "broker-a" in mqadmin("clusterList")
    assert "create or update kv config to namespace success" in mqadmin(*put)
    assert guarded.value(release) == "it was"
    tools(mqadmin.home, APP)
    assert "broker-a" in mqadmin("clusterList")
    mqadmin_output = mqadmin("deleteKvConfig", "-s", "Guarded", "-k", release)
    assert "CODE: 16" in mqadmin_output
    assert "User:application-1 has no permission. DELETE_KV_CONFIG needs the role admin" in mqadmin_output
    tools(mqadmin.home, OPS._replace(secret_key="another secret"))
    assert "check signature failed." in mqadmin("updateNamesrvConfig", "-k", "enableTopicList", "-v", "false")
    assert guarded.value(release) == "it was"


def test_an_observer_reads_everything_and_changes_nothing_and_a_key_is_good_where_it_belongs(
    guarded: Guarded,
) -> None:
    tools(guarded.mqadmin.home, MONITOR)
    assert "scanNotActiveBrokerInterval" in guarded.mqadmin("getNamesrvConfig")
    assert "broker-a" in guarded.mqadmin("clusterList")
    mqadmin_output = guarded.mqadmin("updateNamesrvConfig", "-k", "enableTopicList", "-v", "false")
    assert "User:monitor-1 has no permission. UPDATE_NAMESRV_CONFIG needs the role admin" in mqadmin_output
    tools(guarded.mqadmin.home, AWAY)
    assert "User:operator-2 has no permission to send requests from 127.0.0.1" in guarded.mqadmin(
        "clusterList"
    )
    guarded.server.child.wait_for_line("(network, accessKey 'operator-2'", 20)


def test_an_mqadmin_that_shows_a_certificate_need_not_sign(guarded: Guarded) -> None:
    (guarded.old_mqadmin.home / "conf" / "tools.yml").unlink(missing_ok=True)
    put = ("updateKvConfig", "-s", "Guarded", "-k", "certified", "-v", "it was")
    assert "username cannot be null. PUT_KV_CONFIG needs the role admin" in guarded.old_mqadmin(*put)
    guarded.allow({**ALLOWED, "certificates": [{"subject": "CN=old-ops", "role": "admin"}]})
    try:
        assert "create or update kv config to namespace success" in guarded.old_mqadmin(*put)
        assert guarded.value("certified") == "it was"
    finally:
        guarded.allow(ALLOWED)


def test_our_command_line_signs_and_says_in_one_line_what_it_may_not(guarded: Guarded) -> None:
    put = ("updateKvConfig", "Guarded", "ours", "v")
    for result, error in (
        (guarded(*put), "NO_PERMISSION (16): username cannot be null. PUT_KV_CONFIG needs the role admin"),
        (
            guarded.by(APP, *put),
            "NO_PERMISSION (16): User:application-1 has no permission. PUT_KV_CONFIG needs the role admin",
        ),
        (
            guarded.by(OPS._replace(secret_key="another secret"), *put),
            "NO_PERMISSION (16): check signature failed.",
        ),
    ):
        assert (result.code, [row["error"] for row in result.rows]) == (1, [error])
        assert (
            "the server checks credentials: save them in the context, or set NSADMIN_ACCESS_KEY" in result.err
        )
        assert "secret of" not in result.err
    result = guarded.by(OPS, *put)
    assert (result.code, [row["result"] for row in result.rows]) == (0, ["done"])
    assert result.err.startswith("nsadmin: to undo it: nsadmin deleteKvConfig -s Guarded -k ours ")
    result = guarded("clusterList")
    assert (result.code, result.rows) == (1, None)
    assert f"{guarded.server.address}: NO_PERMISSION (16): username cannot be null." in result.err


def test_a_user_of_a_broker_that_checks_none_has_no_effect(guarded: Guarded) -> None:
    words = ("createUser", "clerk", "-b", guarded.new.address, "-p", "of a clerk", "--passwordVisible")
    planned = guarded.by(OPS, *words, "--dry-run")
    assert (planned.code, planned.rows[0]["result"]) == (0, "dry-run")
    effect = f"users have no effect on {guarded.new.address}, where clients need no password"
    assert f"{effect}: first give clients, slaves and proxies credentials " in planned.err


def test_a_context_with_a_key_is_enough(guarded: Guarded) -> None:
    config = Path(guarded.env["NSADMIN_CONFIG"])
    context = {
        "namesrvAddr": guarded.server.address,
        "accessKey": OPS.access_key,
        "secretKey": OPS.secret_key,
    }
    write(config, {"current": "guarded", "contexts": {"guarded": context}})
    result = guarded("--context", "guarded", "getNamesrvConfig")
    assert (result.code, result.err) == (0, "")
    assert OPS.secret_key not in str(result.rows)


def test_whoever_is_fenced_out_is_gone(guarded: Guarded) -> None:
    assert "broker-a" in guarded.brokers()
    elsewhere = [*ALLOWED["accounts"][:-1], account(BROKER, "broker", clusters=["Elsewhere"])]
    guarded.allow({"accounts": elsewhere})
    try:
        # Its heartbeats are refused, too.
        wait_for("its end", lambda: "broker-a" not in guarded.brokers())
        assert guarded.said(f"(fence, accessKey '{BROKER.access_key}'")
    finally:
        guarded.allow(ALLOWED)
    wait_for("its return", lambda: "broker-a" in guarded.brokers())


def test_a_broker_that_stops_signs_that_too(guarded: Guarded) -> None:
    guarded.new.stop()
    wait_for("its unregistration", partial(heard, guarded.tap, 104))
    [left] = [frame.command for frame in guarded.tap.frames if frame.command.code == 104]
    assert (left.ext or {}).get("AccessKey") == BROKER.access_key
    assert "broker-a" not in guarded.brokers()
    assert wire.ask(guarded.server.port, 106).code == 16


def heard(tap: Tap, code: int) -> bool:
    return any(frame.command.code == code for frame in tap.frames)
