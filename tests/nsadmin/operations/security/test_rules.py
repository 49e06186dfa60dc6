"""What is wrong with a server, by what was seen of it."""

import pytest

from nsadmin.client.access.certificates import CertificateSummary
from nsadmin.operations.checks.check import CheckScale
from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.security.observer import (
    BROKER,
    NAME_SERVER,
    PROXY,
    AuditedServer,
    SecurityObservation,
)
from nsadmin.operations.security.rules import AUDIT_MEASURES, SecurityProblem, find_problems, judge_servers

NOW = 1_000_000.0
GOOD = CertificateSummary("ns", int(NOW) + 86_400)

LOCKED = AuditedServer(
    NAME_SERVER, "10.0.0.1:9876", "10.0.0.1:9876", "V5_5_0", {"credentialsFile": "/c.yaml"}, None,
    is_ours=True, answers_plain_text=False, speaks_tls=True, certificate=GOOD,
)  # fmt: skip
OPEN_SETTINGS = {"enableTopicList": "true"}
OPEN = AuditedServer(
    NAME_SERVER, "10.0.0.2:9876", "10.0.0.2:9876", "V5_5_0", OPEN_SETTINGS, OPEN_SETTINGS,
    lists_brokers=True, answers_plain_text=True, speaks_tls=False,
)  # fmt: skip
PLAIN = {"aclEnable": "false", "autoCreateTopicEnable": "true", "haListenPort": "10912"}
BROKER_A = AuditedServer(
    BROKER, "a 0 at 10.0.0.3:10911", "10.0.0.3:10911", "V5_5_0", PLAIN, PLAIN,
    answers_plain_text=True, speaks_tls=False, has_open_replication=True,
)  # fmt: skip


def found(server: AuditedServer) -> dict[str, CheckState]:
    return {problem.check_name: problem.check_state for problem in find_problems(server, NOW)}


def test_nothing_is_wrong_with_a_server_that_is_locked_down() -> None:
    assert found(LOCKED) == {}


def test_an_open_name_server() -> None:
    assert found(OPEN) == {
        "openNameServer": CheckState.WARNING,
        "noTls": CheckState.WARNING,
        "openReads": CheckState.OK,
    }
    [ours] = [
        problem
        for problem in find_problems(OPEN._replace(is_ours=True), NOW)
        if problem.check_name == "openNameServer"
    ]
    [java] = [problem for problem in find_problems(OPEN, NOW) if problem.check_name == "openNameServer"]
    assert ours.remedy_text == "start it with --credentials (nsadmin guide secure-the-name-server)"
    assert java.remedy_text.startswith("Apache's name server cannot authenticate clients: allow only brokers")


@pytest.mark.parametrize(
    ("readers", "expected"),
    [
        ((), {}),
        (("User:watch",), {"passwordReaders": CheckState.WARNING}),
        (None, {"unreadAcls": CheckState.UNKNOWN}),
    ],
)
def test_what_the_acls_of_a_broker_leave_open(
    readers: tuple[str, ...] | None, expected: dict[str, CheckState]
) -> None:
    guarded = LOCKED._replace(kind=BROKER, is_ours=False, password_readers=readers)
    assert found(guarded).items() >= {"unguardedRequests": CheckState.WARNING, **expected}.items()
    # Before 5.3, ACLs are a file of the broker.
    assert found(guarded._replace(version="V4_9_7")).keys().isdisjoint({"unguardedRequests", *expected})


@pytest.mark.parametrize("switch", ["noRemoteConfig", "readOnly"])
def test_a_switch_closes_settings(switch: str) -> None:
    open_settings = {**OPEN_SETTINGS, switch: "true"}
    assert "openNameServer" not in found(
        OPEN._replace(is_ours=True, settings=open_settings, public_settings=open_settings)
    )


def test_credentials_that_everybody_need_not_have() -> None:
    credential_settings = {"credentialsFile": "/c.yaml"}
    assert found(
        OPEN._replace(is_ours=True, settings=credential_settings, public_settings=credential_settings)
    ).keys() == {"noTls", "openReads"}


def test_an_open_broker() -> None:
    assert found(BROKER_A) == {
        "openBrokerSettings": CheckState.WARNING,
        "noAuthentication": CheckState.WARNING,
        "noTls": CheckState.WARNING,
        "replicationPort": CheckState.WARNING,
        "automaticTopics": CheckState.OK,
    }


@pytest.mark.parametrize(
    ("version", "key"),
    [("V4_9_7", "aclEnable=true"), ("V5_2_0", "aclEnable"), ("V5_3_0", "authenticationEnabled")],
)
def test_how_authentication_is_demanded_depends_on_the_release(version: str, key: str) -> None:
    [one] = [
        one
        for one in find_problems(BROKER_A._replace(version=version), NOW)
        if one.check_name == "noAuthentication"
    ]
    assert f"credentials (nsadmin guide manage-users-and-acls), then set {key}" in one.remedy_text


def test_a_broker_that_demands_credentials_and_tells_anyway() -> None:
    settings = {**PLAIN, "aclEnable": "true"}
    server = BROKER_A._replace(settings=settings, public_settings=settings)
    assert "settingsWithoutCredentials" in found(server)
    assert not {"openBrokerSettings", "noAuthentication"} & found(server).keys()
    assert "settingsWithoutCredentials" not in found(server._replace(public_settings=None))


def test_accounts_without_rights() -> None:
    settings = {"authenticationEnabled": "true", "authorizationEnabled": "false"}
    assert (
        found(BROKER_A._replace(settings=settings, public_settings=None))["noAuthorization"]
        is CheckState.WARNING
    )
    settings["authorizationEnabled"] = "true"
    assert "noAuthorization" not in found(BROKER_A._replace(settings=settings, public_settings=None))


def test_known_vulnerabilities_by_version_but_never_of_our_own_server() -> None:
    old = OPEN._replace(version="V4_9_4")
    assert found(old)["CVE-2023-37582"] is CheckState.CRITICAL
    assert "CVE-2023-37582" not in found(old._replace(is_ours=True))
    acl = {**PLAIN, "aclEnable": "true"}
    assert found(BROKER_A._replace(version="V5_2_0", settings=acl))["CVE-2024-23321"] is CheckState.WARNING


@pytest.mark.parametrize("version", ["HIGHER_VERSION", None])
def test_a_server_of_an_unknown_release_is_not_free_of_vulnerabilities(version: str | None) -> None:
    assert found(OPEN._replace(version=version))["unknownRelease"] is CheckState.UNKNOWN
    assert found(LOCKED._replace(version=version)) == {}


@pytest.mark.parametrize(
    ("key", "value", "is_one"),
    [
        ("innerClientAuthenticationCredentials", '{"accessKey":"a","secretKey":"b"}', True),
        ("dbPassword", "12345678", True),
        ("initAuthenticationUser", "x", False),
        ("credentialsFile", "/etc/credentials.yaml", False),
        ("tokenCount", "100", False),
        ("secretProvider", "org.apache.rocketmq.X", False),
        ("passwordNeeded", "true", False),
        ("accessKey", "", False),
    ],
)
def test_secrets_that_are_told(key: str, value: str, is_one: bool) -> None:
    settings = {**PLAIN, key: value}
    assert ("openSecrets" in found(BROKER_A._replace(settings=settings, public_settings=settings))) == is_one
    closed = found(BROKER_A._replace(settings=settings, public_settings=None))
    assert (closed.get("secretsInSettings") is CheckState.OK) == is_one
    assert "openSecrets" not in closed


def test_no_secret_is_part_of_what_is_said() -> None:
    settings = {**PLAIN, "dbPassword": "tell nobody"}
    whole, parts = judge_servers(
        CheckScale("security", AUDIT_MEASURES),
        SecurityObservation(NOW, [BROKER_A._replace(settings=settings, public_settings=settings)]),
    )
    assert "tell nobody" not in repr((whole, parts))
    assert "dbPassword" in repr(parts)


def test_each_way_tls_may_be_less_than_it_seems() -> None:
    exposed_server = LOCKED._replace(
        answers_plain_text=True, certificate=CertificateSummary("ns", int(NOW) - 1, True)
    )
    assert found(exposed_server) == {
        "plainText": CheckState.WARNING,
        "selfSigned": CheckState.WARNING,
        "expiredCertificate": CheckState.CRITICAL,
    }


@pytest.mark.parametrize(
    ("addr", "is_public"),
    [
        ("8.8.8.8:9876", True),
        ("[2001:4860:4860::8888]:9876", True),
        ("192.168.1.1:9876", False),
        ("127.0.0.1:9876", False),
        ("broker.example:9876", False),
    ],
)
def test_what_stands_open_at_a_public_address_is_critical(addr: str, is_public: bool) -> None:
    states = found(OPEN._replace(addr=addr))
    assert ("publicAddress" in states) == is_public
    assert states["openNameServer"] is (CheckState.CRITICAL if is_public else CheckState.WARNING)


def test_the_worst_comes_first_with_its_servers_and_what_to_do() -> None:
    other = BROKER_A._replace(name="b 0 at 10.0.0.4:10911", version="V5_1_0")
    whole, parts = judge_servers(
        CheckScale("security", AUDIT_MEASURES), SecurityObservation(NOW, [OPEN, BROKER_A, other])
    )
    assert (whole.state, whole.summary) == (CheckState.CRITICAL, "1 critical problem, 5 warnings; servers: 3")
    first = parts[0]
    assert (first.check, first.state) == ("CVE-2023-33246", CheckState.CRITICAL)
    assert first.details[0] == "b 0 at 10.0.0.4:10911: version V5_1_0"
    assert first.details[1].startswith("remedy: upgrade to 4.9.6 or 5.1.1 or later; until then allow only")
    no_tls = next(part for part in parts if part.check == "noTls")
    assert no_tls.summary.endswith("(3 servers)")
    assert no_tls.details[0] == "name server 10.0.0.2:9876"
    assert parts[-1].state is CheckState.OK
    assert len({part.check for part in parts}) == len(parts)


def test_all_is_well() -> None:
    whole, parts = judge_servers(CheckScale("security", AUDIT_MEASURES), SecurityObservation(NOW, [LOCKED]))
    assert (whole.state, whole.summary, parts) == (
        CheckState.OK,
        "0 critical problems, 0 warnings; servers: 1",
        [],
    )


def test_who_says_nothing_makes_it_unknown_if_nothing_is_worse() -> None:
    silent = AuditedServer(BROKER, "a 0 at h:1", "h:1", error="Connection refused")
    whole, parts = judge_servers(
        CheckScale("security", AUDIT_MEASURES),
        SecurityObservation(NOW, [LOCKED, silent], "no name server returned"),
    )
    assert whole.state is CheckState.UNKNOWN
    assert parts[0].details == ("a 0 at h:1: Connection refused", "no name server returned")
    assert (
        judge_servers(CheckScale("security", AUDIT_MEASURES), SecurityObservation(NOW, [OPEN, silent]))[
            0
        ].state
        is CheckState.WARNING
    )


def test_settings_that_may_not_be_read_are_not_taken_for_good_ones() -> None:
    whole, [part] = judge_servers(
        CheckScale("security", AUDIT_MEASURES), SecurityObservation(NOW, [LOCKED._replace(settings=None)])
    )
    assert (whole.state, part.check) == (CheckState.UNKNOWN, "unreadSettings")


def test_other_limits() -> None:
    assert (
        judge_servers(CheckScale("security", AUDIT_MEASURES, warning="~:"), SecurityObservation(NOW, [OPEN]))[
            0
        ].state
        is CheckState.OK
    )


def test_text_for_people_names_only_the_first_servers_with_the_same_evidence() -> None:
    brokers = [BROKER_A._replace(name=f"b-{number} 0 at h:{number}") for number in range(5)]
    _, parts = judge_servers(
        CheckScale("security", AUDIT_MEASURES), SecurityObservation(NOW, [OPEN, *brokers])
    )
    no_tls = next(part for part in parts if part.check == "noTls")
    assert no_tls.brief_details[:2] == (
        "name server 10.0.0.2:9876",
        "b-0 0 at h:0, b-1 0 at h:1, b-2 0 at h:2 and 2 more",
    )
    assert len(no_tls.details) == len(no_tls.brief_details) + 4


@pytest.mark.parametrize(
    ("accepts", "name", "state"),
    [
        (True, "replicationPort", CheckState.WARNING),
        (None, "unknownReplicationPort", CheckState.UNKNOWN),
        (False, None, None),
    ],
)
def test_a_replication_port_that_was_not_tried_is_told(
    accepts: bool | None, name: str | None, state: CheckState | None
) -> None:
    problems = found(BROKER_A._replace(has_open_replication=accepts))
    said = {key: value for key, value in problems.items() if key.lower().endswith("replicationport")}
    assert said == ({} if name is None else {name: state})


def test_a_proxy_that_answers_without_credentials_is_open() -> None:
    proxy = AuditedServer(PROXY, "proxy p", "127.0.0.1:8080", settings={}, public_settings={})
    assert list(found(proxy)) == ["openProxy"]
    assert found(proxy._replace(public_settings=None)) == {}
    assert found(proxy._replace(addr="8.8.8.8:1")) == {
        "openProxy": CheckState.CRITICAL,
        "publicAddress": CheckState.WARNING,
    }


def test_a_grpc_port_in_plain_text_that_lists_connections() -> None:
    port = AuditedServer(
        PROXY, "proxy p (gRPC)", "127.0.0.1:8081", settings={}, answers_plain_text=True, speaks_tls=True,
        lists_connections=True,
    )  # fmt: skip
    assert list(found(port)) == ["plainText", "openConnections"]
    assert list(found(port._replace(speaks_tls=False))) == ["noTls", "openConnections"]


def test_brokers_have_rules_of_their_own() -> None:
    broker = AuditedServer(BROKER, "b", "127.0.0.1:1", settings={}, public_settings={})
    assert "openProxy" not in found(broker)


def test_evidence_is_optional() -> None:
    assert SecurityProblem("noTls", CheckState.WARNING, "not encrypted", "set up TLS").evidence == ""
