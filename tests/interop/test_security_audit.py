"""securityAudit of released servers and of ours: 5.5.0 and 4.9.7, open, with ACLs, behind TLS."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.cluster import wait_for_broker
from tests.interop.java_parts import (
    QUICK_START,
    STOCK,
    WITHOUT_TIMER,
    JavaBroker,
    JavaNameServer,
    acl_config,
    tls_flags,
    write_plain_acl,
)
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.certificates import Authority, CertificatePair

USER, SECRET = "operator-1", "a secret of ours"
SIGNED = {"NSADMIN_ACCESS_KEY": USER, "NSADMIN_SECRET_KEY": SECRET}
CREDENTIALS = f"""\
accounts:
  - {{accessKey: {USER}, secretKey: {SECRET}, role: admin}}
networks:
  - {{network: 127.0.0.1/32, role: broker}}
"""


class World(NamedTuple):
    """An open cluster of 5.5.0 and one of 4.9.7; one that is ours and has ACLs; one behind TLS."""

    new: JavaNameServer
    old: JavaNameServer
    ours: OurNameServer
    locked: OurNameServer
    guarded: JavaBroker
    authority: Authority
    operator: CertificatePair


@pytest.fixture(scope="module")
def world(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = tmp_path_factory.mktemp("audit")
    authority = Authority(home / "ca")
    operator, servers = authority.issue("operator"), authority.issue("servers")
    write_plain_acl(home / "guarded", [{"accessKey": USER, "secretKey": SECRET, "admin": True}])
    (home / "credentials.yaml").write_text(CREDENTIALS)
    (home / "credentials.yaml").chmod(0o600)
    tls = {
        "tls.server.mode": "enforcing",
        "tls.server.certPath": servers.cert,
        "tls.server.keyPath": servers.key,
    }
    with (
        OurNameServer(home / "ours") as ours,
        OurNameServer(home / "locked", {**tls, "credentialsFile": home / "credentials.yaml"}) as locked,
        ExitStack() as ends,
        ThreadPoolExecutor() as pool,
    ):
        new = JavaNameServer(home / "new", jvm_flags=STOCK)
        old = JavaNameServer(home / "old", version=jars.OLD, jvm_flags=STOCK)
        flags = [*QUICK_START, *tls_flags(authority.ca, servers, operator)]
        acl = acl_config(USER, SECRET)
        guarded = JavaBroker(home / "acl", [ours.address], "broker-acl", config=acl)
        parts = (
            new,
            old,
            JavaBroker(home / "open", [new.address], "broker-open", jvm_flags=STOCK),
            JavaBroker(home / "old-open", [old.address], "broker-old", version=jars.OLD, jvm_flags=STOCK),
            guarded,
            JavaBroker(
                home / "guarded",
                [ours.address],
                "broker-guarded",
                version=jars.OLD,
                config={"aclEnable": "true"},
            ),
            JavaBroker(
                home / "tls", [locked.address], "broker-tls", jvm_flags=flags, config={**WITHOUT_TIMER, **acl}
            ),
        )
        for part in pool.map(lambda part: part.__enter__(), parts):
            ends.push(part)
        wait_for_broker([new], "broker-open")
        wait_for_broker([old], "broker-old")
        wait_for_broker([ours], "broker-acl")
        wait_for_broker([ours], "broker-guarded")
        yield World(new, old, ours, locked, guarded, authority, operator)


def audit(addr: str, *args: str, **env: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and what was found by the name of the finding."""
    alone = {name: "" for name in ("NSADMIN_CONTEXT", *SIGNED, "NSADMIN_SECURITY_TOKEN")}
    environment = {**alone, "NSADMIN_CONFIG": "/nonexistent/config.yaml", "ROCKETMQ_HOME": "", **env}
    result = command_line.nsadmin(addr, "securityAudit", *args, env=environment)
    assert result.rows is not None, result
    return result.code, {part["check"]: part for part in result.rows["checks"]}


def test_stock_servers_of_5_5_0_are_open_and_the_audit_changes_nothing(world: World) -> None:
    before = world.new.config_file.read_bytes()
    code, report = audit(world.new.address)
    assert code == 1
    for check, who in (
        ("openNameServer", world.new.address),
        ("openBrokerSettings", "broker-open"),
        ("noAuthentication", "broker-open"),
        ("replicationPort", "broker-open"),
        ("plainText", "broker-open"),
        ("selfSigned", world.new.address),
    ):
        assert report[check]["state"] == "WARNING", check
        assert any(who in line for line in report[check]["details"]), (check, report[check])
    assert not [check for check in report if check.startswith(("CVE", "unanswered", "unread", "openSecrets"))]
    assert world.new.config_file.read_bytes() == before


def test_4_9_7_too_by_its_own_settings(world: World) -> None:
    code, report = audit(world.old.address)
    assert code == 1
    remedy = report["noAuthentication"]["details"][-1]
    assert remedy.startswith("remedy: first give clients, slaves and proxies credentials ")
    assert remedy.endswith(", then set aclEnable=true in broker.conf")
    assert "openNameServer" in report
    assert not [check for check in report if check.startswith("CVE")]


def test_brokers_that_demand_credentials(world: World) -> None:
    _, report = audit(world.ours.address)
    assert "noAuthentication" not in report
    assert "openBrokerSettings" not in report
    assert "broker-acl" in str(report["unreadSettings"]["details"])
    code, report = audit(world.ours.address, **SIGNED)
    assert code == 1
    assert "unreadSettings" not in report
    assert "noAuthentication" not in report
    # Its own keys are not among what a broker tells; that its ACLs of 4.9 have a known weakness is.
    assert "broker-guarded" in str(report["CVE-2024-23321"]["details"])
    assert "broker-acl" not in str(report["CVE-2024-23321"]["details"])
    assert "broker-acl" in str(report["unguardedRequests"]["details"])
    assert "passwordReaders" not in report
    signed = {"NSADMIN_CONFIG": "/nonexistent/config.yaml", **SIGNED}
    for words in (
        ("createUser", "watch", "-p", "of a watch", "--passwordVisible"),
        ("createAcl", "watch", "-r", "Cluster:*", "-a", "Get", "-d", "Allow"),
    ):
        made = command_line.nsadmin(
            world.ours.address, *words, "-b", world.guarded.address, "--yes", env=signed
        )
        assert made.code == 0, made
    _, report = audit(world.ours.address, **SIGNED)
    assert "User:watch" in str(report["passwordReaders"]["details"])
    assert SECRET not in str(report)


def test_ours_locked_down_with_tls_and_credentials_has_nothing_left_open(world: World) -> None:
    cert, key = map(str, world.operator)
    options = ("--tlsCa", str(world.authority.ca), "--tlsCert", cert, "--tlsKey", key)

    def listed() -> bool:
        result = command_line.nsadmin(world.locked.address, *options, "clusterList", env=SIGNED)
        return result.code == 0 and "broker-tls" in str(result.rows)

    wait_for("broker-tls", listed)
    _, report = audit(world.locked.address, *options, **SIGNED)
    mine = {
        check: part["state"] for check, part in report.items() if world.locked.address in str(part["details"])
    }
    # Whoever is on this machine may ask what brokers may: that is what its file says.
    assert mine == {"openReads": "OK"}
    assert "plainText" not in report
    assert "noTls" not in report
    assert "noAuthentication" not in report
