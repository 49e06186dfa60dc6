"""What is wrong with what an audit saw: pure; a table of steps, each about one thing that may stand open."""

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

from nsadmin.client.secrecy import is_secret
from nsadmin.operations.checks.finding import Finding, State, weight, worst
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.operations.security.looking import BROKER, NAME_SERVER, Seen, Server
from nsadmin.operations.security.vulnerabilities import affecting, release, remedy
from nsadmin.wording import to_the_second


class Problem(NamedTuple):
    """One thing that is wrong with one server; an OK is worth knowing, and may be meant so."""

    check: str
    state: State
    what: str
    remedy: str
    evidence: str = ""


_USERS_SINCE = (5, 3, 0, 0)
_FENCE = "let only brokers, clients and operators reach the port (firewall, network policy)"
_OURS = "start it with --credentials (docs/security.md)"
_JAVA = f"Apache's name server cannot tell who asks: {_FENCE}, or run `nsadmin namesrv --credentials`"


def vulnerable(server: Server, now: float) -> Iterator[Problem]:
    if server.is_ours:
        return
    for one in affecting(server.kind, server.version, server.settings):
        state = State.CRITICAL if one.is_grave else State.WARNING
        yield Problem(
            one.name, state, one.what, f"{remedy(one)}; until then {_FENCE}", f"it is {server.version}"
        )


def tls(server: Server, now: float) -> Iterator[Problem]:
    if server.speaks_tls is False:
        what = "nothing is encrypted: who is in the way reads and changes all that is said"
        yield Problem(
            "noTls", State.WARNING, what, "give it a certificate: tls.server.mode, tls.server.certPath"
        )
        return
    if server.speaks_tls and server.plain:
        what = "TLS is offered, not demanded: who is in the way can have both ends do without"
        yield Problem(
            "plainText", State.WARNING, what, "tls.server.mode=enforcing, once all that ask use TLS"
        )
    shown = server.certificate
    if shown is None:
        return
    if shown.is_self_signed:
        what = "its certificate is signed by itself: nobody can tell it from anybody else's"
        how = "tls.test.mode.enable=false, and a certificate of an authority that clients trust"
        yield Problem("selfSigned", State.WARNING, what, how, f"{shown.name!r}")
    if shown.ends_at < now:
        until = f"{shown.name!r} until {to_the_second(shown.ends_at * 1000)}"
        how = "put a new one into its place: it is taken without a restart"
        yield Problem("expiredCertificate", State.CRITICAL, "its certificate has expired", how, until)


def open_settings(server: Server, now: float) -> Iterator[Problem]:
    """Judged by what is told to whoever asks: who may read a name server's settings may change them."""
    told = server.told
    if told is None:
        return
    if server.kind == NAME_SERVER:
        if "true" in (told.get("noRemoteConfig"), told.get("readOnly")):
            return
        if server.is_ours and told.get("credentialsFile"):
            return
        what = "whoever reaches it may change its settings, KV config and routes"
        yield Problem("openNameServer", State.WARNING, what, _OURS if server.is_ours else _JAVA)
    elif not _demands(server):
        what = (
            "whoever reaches it may change its settings (UPDATE_BROKER_CONFIG), and delete topics and groups"
        )
        yield Problem("openBrokerSettings", State.WARNING, what, f"demand authentication, or {_FENCE}")


def authentication(server: Server, now: float) -> Iterator[Problem]:
    """Brokers of 5.3 and later do not tell whether they demand it: it shows in what they tell to whom."""
    if server.kind != BROKER or server.settings is None:
        return
    if _is_on(server, "authenticationEnabled") and not _is_on(server, "authorizationEnabled"):
        what = "everybody who has an account may do everything"
        yield Problem("noAuthorization", State.WARNING, what, "authorizationEnabled=true in broker.conf")
    if server.told is None:
        return
    if _demands(server):
        what = "it demands credentials, and tells its settings to whoever asks"
        yield Problem(
            "settingsWithoutCredentials", State.WARNING, what, "see the white lists of its accounts"
        )
        return
    what = "nobody is asked who he is: whoever reaches it reads and writes every message"
    here = release(server.version)
    is_new = here is None or here >= _USERS_SINCE
    keys = "authenticationEnabled=true and authorizationEnabled=true" if is_new else "aclEnable=true"
    yield Problem("noAuthentication", State.WARNING, what, f"{keys} in broker.conf")


def secrets(server: Server, now: float) -> Iterator[Problem]:
    for settings, state, check, what in (
        (server.told, State.CRITICAL, "openSecrets", "it tells secrets to whoever asks for its settings"),
        (
            server.settings,
            State.OK,
            "secretsInSettings",
            "its settings have secrets, told to who may read them",
        ),
    ):
        found = [key for key, value in (settings or {}).items() if is_secret(key) and _is_told(key, value)]
        if found:
            how = "change these secrets, and keep them out of settings that are told: demand authentication"
            yield Problem(check, state, what, how, ", ".join(found))
            return


_NO_SECRET = re.compile(r"|null|true|false|\d{1,5}|org\.apache\..*", re.I)


def _is_told(key: str, value: str) -> bool:
    """Whether this could be the secret itself: neither empty, a switch, a number, a class nor a file."""
    return _NO_SECRET.fullmatch(value.strip()) is None and not key.endswith(("File", "Path", "Dir"))


def reads(server: Server, now: float) -> Iterator[Problem]:
    if server.kind == NAME_SERVER and server.lists:
        what = "it tells the addresses of all brokers, and all topics, to whoever asks"
        yield Problem("openReads", State.OK, what, _OURS if server.is_ours else _FENCE)


def ports(server: Server, now: float) -> Iterator[Problem]:
    if server.replication:
        what = "its port of replication can be reached from here: it hands all messages to whoever connects"
        how = "let only the other brokers of its group reach haListenPort"
        port = (server.settings or {}).get("haListenPort", "")
        yield Problem("replicationPort", State.WARNING, what, how, f"haListenPort={port}")


def places(server: Server, now: float) -> Iterator[Problem]:
    if _is_public(server.addr):
        what = "its address is one of the public Internet"
        yield Problem("publicAddress", State.WARNING, what, f"{_FENCE}, and demand TLS and authentication")


def automatic_topics(server: Server, now: float) -> Iterator[Problem]:
    if server.kind == BROKER and _is_on(server, "autoCreateTopicEnable"):
        what = "a message to a topic that is not there makes it: a wrong name is a new topic"
        yield Problem("automaticTopics", State.OK, what, "autoCreateTopicEnable=false")


def _demands(server: Server) -> bool:
    return _is_on(server, "authenticationEnabled", "aclEnable")


def _is_on(server: Server, *keys: str) -> bool:
    return any((server.settings or {}).get(key, "").lower() == "true" for key in keys)


def _is_public(addr: str) -> bool:
    try:
        return ip_address(addr.rpartition(":")[0].strip("[]")).is_global
    except ValueError:
        return False


STEPS: tuple[Callable[[Server, float], Iterator[Problem]], ...] = (
    vulnerable, secrets, open_settings, authentication, tls, ports, places, reads, automatic_topics,
)  # fmt: skip

_OPEN = ("openNameServer", "openBrokerSettings", "noAuthentication")


def problems(server: Server, now: float) -> list[Problem]:
    """All that is wrong with one server. What stands open at a public address is critical."""
    found = [problem for step in STEPS for problem in step(server, now)]
    if _is_public(server.addr):
        found = [one._replace(state=State.CRITICAL) if one.check in _OPEN else one for one in found]
    return found


def judge(scale: Scale, seen: Seen) -> tuple[Finding, list[Finding]]:
    """The whole, and a finding for each kind of problem, worst first, with the servers that have it."""
    by_check: dict[str, list[tuple[Server, Problem]]] = {}
    for server in seen.servers:
        for problem in problems(server, seen.now):
            by_check.setdefault(problem.check, []).append((server, problem))
    parts = [_finding(check, found) for check, found in by_check.items()]
    parts += _unanswered(seen)
    parts.sort(key=lambda part: -weight(part.state))
    critical, warnings = (
        sum(part.state is state for part in parts) for state in (State.CRITICAL, State.WARNING)
    )
    samples = [
        scale.sample("critical", critical),
        scale.sample("warnings", warnings),
        scale.sample("servers", len(seen.servers)),
    ]
    least = State.UNKNOWN if any(part.state is State.UNKNOWN for part in parts) else State.OK
    of = f"of {len(seen.servers)} servers" if len(seen.servers) != 1 else "of 1 server"
    summary = f"{critical} critical, {_counted(warnings)} {of}"
    return scale.finding(summary, samples, least=least), parts


def _counted(warnings: int) -> str:
    return "1 warning" if warnings == 1 else f"{warnings} warnings"


def _finding(check: str, found: list[tuple[Server, Problem]]) -> Finding:
    first = found[0][1]
    state = worst(problem.state for _, problem in found)
    count = "" if len(found) == 1 else f" ({len(found)} servers)"
    details = [_line(server, problem) for server, problem in found]
    return Finding(check, state, f"{first.what}{count}", (), (*details, *_remedies(found)))


def _line(server: Server, problem: Problem) -> str:
    where = f"{server.kind} {server.name}" if server.kind == NAME_SERVER else server.name
    return f"{where}: {problem.evidence}" if problem.evidence else where


def _remedies(found: Iterable[tuple[Server, Problem]]) -> list[str]:
    return [f"what to do: {text}" for text in dict.fromkeys(problem.remedy for _, problem in found)]


def _unanswered(seen: Seen) -> Iterator[Finding]:
    away = [f"{_line(one, _NOTHING)}: {one.error}" for one in seen.servers if one.error]
    away += [seen.unlisted] if seen.unlisted else []
    if away:
        yield Finding(
            "unanswered", State.UNKNOWN, "nobody can tell about servers that say nothing", (), tuple(away)
        )
    closed = [_line(one, _NOTHING) for one in seen.servers if not one.error and one.settings is None]
    if closed:
        what = "settings that these credentials may not read were not judged"
        yield Finding("unreadSettings", State.UNKNOWN, what, (), tuple(closed))


_NOTHING = Problem("", State.OK, "", "")
