"""What is wrong with a server, by what was seen of it."""

import pytest

from nsadmin.client.certificates import Certificate
from nsadmin.operations.checks.finding import State
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.operations.security.judging import judge, problems
from nsadmin.operations.security.looking import BROKER, NAME_SERVER, Seen, Server

NOW = 1_000_000.0
GOOD = Certificate("ns", int(NOW) + 86_400)

LOCKED = Server(
    NAME_SERVER, "10.0.0.1:9876", "10.0.0.1:9876", "V5_5_0", {"credentialsFile": "/c.yaml"}, None,
    is_ours=True, plain=False, speaks_tls=True, certificate=GOOD,
)  # fmt: skip
OPEN_SETTINGS = {"enableTopicList": "true"}
OPEN = Server(
    NAME_SERVER, "10.0.0.2:9876", "10.0.0.2:9876", "V5_5_0", OPEN_SETTINGS, OPEN_SETTINGS,
    lists=True, plain=True, speaks_tls=False,
)  # fmt: skip
PLAIN = {"aclEnable": "false", "autoCreateTopicEnable": "true", "haListenPort": "10912"}
BROKER_A = Server(
    BROKER, "a 0 at 10.0.0.3:10911", "10.0.0.3:10911", "V5_5_0", PLAIN, PLAIN,
    plain=True, speaks_tls=False, replication=True,
)  # fmt: skip


def found(server: Server) -> dict[str, State]:
    return {one.check: one.state for one in problems(server, NOW)}


def test_nothing_is_wrong_with_a_server_that_is_locked_down() -> None:
    assert found(LOCKED) == {}


def test_an_open_name_server() -> None:
    assert found(OPEN) == {"openNameServer": State.WARNING, "noTls": State.WARNING, "openReads": State.OK}
    [ours] = [one for one in problems(OPEN._replace(is_ours=True), NOW) if one.check == "openNameServer"]
    [java] = [one for one in problems(OPEN, NOW) if one.check == "openNameServer"]
    assert ours.remedy == "start it with --credentials (docs/security.md)"
    assert java.remedy.startswith("Apache's name server cannot tell who asks: let only brokers")


@pytest.mark.parametrize("switch", ["noRemoteConfig", "readOnly"])
def test_a_switch_closes_settings(switch: str) -> None:
    told = {**OPEN_SETTINGS, switch: "true"}
    assert "openNameServer" not in found(OPEN._replace(is_ours=True, settings=told, told=told))


def test_credentials_that_everybody_need_not_have() -> None:
    told = {"credentialsFile": "/c.yaml"}
    assert found(OPEN._replace(is_ours=True, settings=told, told=told)).keys() == {"noTls", "openReads"}


def test_an_open_broker() -> None:
    assert found(BROKER_A) == {
        "openBrokerSettings": State.WARNING,
        "noAuthentication": State.WARNING,
        "noTls": State.WARNING,
        "replicationPort": State.WARNING,
        "automaticTopics": State.OK,
    }


@pytest.mark.parametrize(
    ("version", "key"),
    [("V4_9_7", "aclEnable=true"), ("V5_2_0", "aclEnable"), ("V5_3_0", "authenticationEnabled")],
)
def test_how_authentication_is_demanded_depends_on_the_release(version: str, key: str) -> None:
    [one] = [
        one for one in problems(BROKER_A._replace(version=version), NOW) if one.check == "noAuthentication"
    ]
    assert one.remedy.startswith(key)


def test_a_broker_that_demands_credentials_and_tells_anyway() -> None:
    settings = {**PLAIN, "aclEnable": "true"}
    server = BROKER_A._replace(settings=settings, told=settings)
    assert "settingsWithoutCredentials" in found(server)
    assert not {"openBrokerSettings", "noAuthentication"} & found(server).keys()
    assert "settingsWithoutCredentials" not in found(server._replace(told=None))


def test_accounts_without_rights() -> None:
    settings = {"authenticationEnabled": "true", "authorizationEnabled": "false"}
    assert found(BROKER_A._replace(settings=settings, told=None))["noAuthorization"] is State.WARNING
    settings["authorizationEnabled"] = "true"
    assert "noAuthorization" not in found(BROKER_A._replace(settings=settings, told=None))


def test_known_vulnerabilities_by_version_but_never_of_our_own_server() -> None:
    old = OPEN._replace(version="V4_9_4")
    assert found(old)["CVE-2023-37582"] is State.CRITICAL
    assert "CVE-2023-37582" not in found(old._replace(is_ours=True))
    acl = {**PLAIN, "aclEnable": "true"}
    assert found(BROKER_A._replace(version="V5_2_0", settings=acl))["CVE-2024-23321"] is State.WARNING


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
    assert ("openSecrets" in found(BROKER_A._replace(settings=settings, told=settings))) == is_one
    closed = found(BROKER_A._replace(settings=settings, told=None))
    assert (closed.get("secretsInSettings") is State.OK) == is_one
    assert "openSecrets" not in closed


def test_no_secret_is_part_of_what_is_said() -> None:
    settings = {**PLAIN, "dbPassword": "tell nobody"}
    whole, parts = judge(Scale("security"), Seen(NOW, [BROKER_A._replace(settings=settings, told=settings)]))
    assert "tell nobody" not in repr((whole, parts))
    assert "dbPassword" in repr(parts)


def test_each_way_tls_may_be_less_than_it_seems() -> None:
    seen = LOCKED._replace(plain=True, certificate=Certificate("ns", int(NOW) - 1, True))
    assert found(seen) == {
        "plainText": State.WARNING,
        "selfSigned": State.WARNING,
        "expiredCertificate": State.CRITICAL,
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
    assert states["openNameServer"] is (State.CRITICAL if is_public else State.WARNING)


def test_the_worst_comes_first_with_its_servers_and_what_to_do() -> None:
    other = BROKER_A._replace(name="b 0 at 10.0.0.4:10911", version="V5_1_0")
    whole, parts = judge(Scale("security"), Seen(NOW, [OPEN, BROKER_A, other]))
    assert (whole.state, whole.summary) == (State.CRITICAL, "1 critical, 5 warnings of 3 servers")
    first = parts[0]
    assert (first.check, first.state) == ("CVE-2023-33246", State.CRITICAL)
    assert first.details[0] == "b 0 at 10.0.0.4:10911: it is V5_1_0"
    assert first.details[1].startswith("what to do: upgrade to 4.9.6 or 5.1.1 or later; until then let only")
    no_tls = next(part for part in parts if part.check == "noTls")
    assert no_tls.summary.endswith("(3 servers)")
    assert no_tls.details[0] == "name server 10.0.0.2:9876"
    assert parts[-1].state is State.OK
    assert len({part.check for part in parts}) == len(parts)


def test_all_is_well() -> None:
    whole, parts = judge(Scale("security"), Seen(NOW, [LOCKED]))
    assert (whole.state, whole.summary, parts) == (State.OK, "0 critical, 0 warnings of 1 server", [])


def test_who_says_nothing_makes_it_unknown_if_nothing_is_worse() -> None:
    silent = Server(BROKER, "a 0 at h:1", "h:1", error="Connection refused")
    whole, parts = judge(Scale("security"), Seen(NOW, [LOCKED, silent], "no name server tells"))
    assert whole.state is State.UNKNOWN
    assert parts[0].details == ("a 0 at h:1: Connection refused", "no name server tells")
    assert judge(Scale("security"), Seen(NOW, [OPEN, silent]))[0].state is State.WARNING


def test_settings_that_may_not_be_read_are_not_taken_for_good_ones() -> None:
    whole, [part] = judge(Scale("security"), Seen(NOW, [LOCKED._replace(settings=None)]))
    assert (whole.state, part.check) == (State.UNKNOWN, "unreadSettings")


def test_other_limits() -> None:
    assert judge(Scale("security", warning="~:"), Seen(NOW, [OPEN]))[0].state is State.OK
