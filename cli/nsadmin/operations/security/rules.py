"""The rules of the security audit. Each rule finds one kind of problem. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address
from typing import NamedTuple

from nsadmin.client.redaction import is_secret_name
from nsadmin.console.phrases import abbreviate_names, format_utc_second
from nsadmin.operations.checks.check import CheckScale, judge_kinds
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, CheckState, worst_state
from nsadmin.operations.release_faults import find_faults, has_users, parse_release
from nsadmin.operations.security.observer import (
    BROKER,
    NAME_SERVER,
    PROXY,
    AuditedServer,
    SecurityObservation,
)

AUDIT_MEASURES = (
    CheckMeasure("critical", "kinds of findings that give strangers access or secrets", critical="0"),
    CheckMeasure("warnings", "kinds of findings that leave an access open", warning="0"),
    CheckMeasure("servers", "checked servers"),
)
CREDENTIALS_FIRST = (
    "first give clients, slaves and proxies credentials (nsadmin guide manage-users-and-acls), then"
)
"""Without them, the settings that turn access control on shut everybody out."""
FENCE_REMEDY = "allow only brokers, clients and operators to reach the port (firewall, network policy)"
_OURS_REMEDY = "start it with --credentials (nsadmin guide secure-the-name-server)"
_JAVA_REMEDY = (
    f"Apache's name server cannot authenticate clients: {FENCE_REMEDY}, or run `nsadmin namesrv "
    "--credentials FILE`"
)


class SecurityProblem(NamedTuple):
    """One problem of one server. The state OK marks a fact worth knowing, which may be intended."""

    check_name: str
    check_state: CheckState
    problem_text: str
    remedy_text: str
    evidence: str = ""


_SEVERITY_STATES = {
    "critical": CheckState.CRITICAL,
    "warning": CheckState.WARNING,
    "notice": CheckState.OK,
}


def check_release(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if server.is_ours:
        return
    is_listed = server.kind in (NAME_SERVER, BROKER) and not server.error
    if is_listed and parse_release(server.version) is None:
        yield SecurityProblem(
            "unknownRelease",
            CheckState.UNKNOWN,
            "known vulnerabilities were not looked up: the version is unknown",
            "compare its release with the advisories of Apache RocketMQ",
            f"version {server.version or 'not reported'}",
        )
    has_certificate = server.certificate is not None and not server.certificate.is_self_signed
    settings = {**(server.settings or {}), "tls.server.mode": "enforcing" if has_certificate else "disabled"}
    for fault in find_faults(server.kind, server.version, settings):
        yield SecurityProblem(
            fault.source,
            _SEVERITY_STATES[fault.severity],
            fault.effect,
            f"{fault.remedy}; until then {FENCE_REMEDY}" if fault.is_vulnerability else fault.remedy,
            f"version {server.version}",
        )


def check_tls(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if server.speaks_tls is False:
        yield SecurityProblem(
            "noTls",
            CheckState.WARNING,
            "not encrypted: an attacker on the network path can read and change all data",
            "set up a certificate: tls.server.mode, tls.server.certPath",
        )
        return
    if server.speaks_tls and server.answers_plain_text:
        yield SecurityProblem(
            "plainText",
            CheckState.WARNING,
            "TLS is optional: an attacker on the network path can downgrade it to plain text",
            "set tls.server.mode=enforcing once all clients use TLS",
        )
    certificate = server.certificate
    if certificate is None:
        return
    if certificate.is_self_signed:
        yield SecurityProblem(
            "selfSigned",
            CheckState.WARNING,
            "self-signed certificate: clients cannot distinguish it from an attacker's",
            "set tls.test.mode.enable=false, and install a certificate of a trusted authority",
            f'"{certificate.subject_name}"',
        )
    if certificate.ends_at_seconds < now:
        validity_text = (
            f'"{certificate.subject_name}" until {format_utc_second(certificate.ends_at_seconds * 1000)}'
        )
        yield SecurityProblem(
            "expiredCertificate",
            CheckState.CRITICAL,
            "the certificate has expired",
            "replace the certificate file: the server reads it without a restart",
            validity_text,
        )


def check_open_settings(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    """Judge by the public settings: a client that may read a name server's settings may change them."""
    public_settings = server.public_settings
    if public_settings is None or server.kind == PROXY:
        return
    if server.kind == NAME_SERVER:
        if "true" in (public_settings.get("noRemoteConfig"), public_settings.get("readOnly")):
            return
        if server.is_ours and public_settings.get("credentialsFile"):
            return
        yield SecurityProblem(
            "openNameServer",
            CheckState.WARNING,
            "unauthenticated clients can change its settings, KV config and routes",
            _OURS_REMEDY if server.is_ours else _JAVA_REMEDY,
        )
    elif not _is_authentication_on(server):
        yield SecurityProblem(
            "openBrokerSettings",
            CheckState.WARNING,
            "unauthenticated clients can change its settings, and delete topics and groups",
            f"require authentication, or {FENCE_REMEDY}",
        )


def check_authentication(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    """Brokers from 5.3 on do not report whether they authenticate: their public settings show it."""
    if server.kind != BROKER or server.settings is None:
        return
    if _is_setting_on(server, "authenticationEnabled") and not _is_setting_on(server, "authorizationEnabled"):
        yield SecurityProblem(
            "noAuthorization",
            CheckState.WARNING,
            "every authenticated account has all permissions",
            "first give each user its ACL, then set authorizationEnabled=true in broker.conf",
        )
    if server.public_settings is None:
        return
    if _is_authentication_on(server):
        yield SecurityProblem(
            "settingsWithoutCredentials",
            CheckState.WARNING,
            "it requires credentials, but returns its settings to unauthenticated clients",
            "check the allow lists of its accounts",
        )
        return
    required_settings = (
        "authenticationEnabled=true and authorizationEnabled=true"
        if has_users(server.version) or parse_release(server.version) is None
        else "aclEnable=true"
    )
    yield SecurityProblem(
        "noAuthentication",
        CheckState.WARNING,
        "clients are not authenticated: anyone on the network can read and write all messages",
        f"{CREDENTIALS_FIRST} set {required_settings} in broker.conf",
    )


def check_permissions(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    """What a broker's ACLs do not protect, or open too far."""
    if server.kind != BROKER or server.settings is None or server.public_settings is not None:
        return
    if not has_users(server.version):
        return
    yield SecurityProblem(
        "unguardedRequests",
        CheckState.WARNING,
        "every user, also one without an ACL, can change its settings and its groups",
        f"brokers of 5.x ask for no permission for these requests: {FENCE_REMEDY}",
    )
    if server.password_readers is None:
        yield SecurityProblem(
            "unreadAcls",
            CheckState.UNKNOWN,
            "these credentials may not read its ACLs: who can read the passwords of users is unknown",
            "audit with the credentials of a super user",
        )
    elif server.password_readers:
        yield SecurityProblem(
            "passwordReaders",
            CheckState.WARNING,
            "users who are not its administrators can read the passwords of all users",
            "take Get, List and All on Cluster resources from their ACL",
            ", ".join(server.password_readers),
        )


def check_secrets(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    for read_settings, check_state, check_name, problem_text in (
        (
            server.public_settings,
            CheckState.CRITICAL,
            "openSecrets",
            "it returns secrets to unauthenticated clients that read its settings",
        ),
        (
            server.settings,
            CheckState.OK,
            "secretsInSettings",
            "its settings contain secrets, which every client with read permission can see",
        ),
    ):
        secret_keys = [
            key
            for key, value in (read_settings or {}).items()
            if is_secret_name(key) and _can_be_secret(key, value)
        ]
        if secret_keys:
            remedy_text = "change these secrets, and require authentication to read the settings"
            yield SecurityProblem(check_name, check_state, problem_text, remedy_text, ", ".join(secret_keys))
            return


_HARMLESS_VALUE = re.compile(r"|null|true|false|\d{1,5}|org\.apache\..*", re.I)


def _can_be_secret(setting_key: str, setting_value: str) -> bool:
    """Whether a value may be a secret: it is not empty, a switch, a short number, a class name or a path."""
    return _HARMLESS_VALUE.fullmatch(setting_value.strip()) is None and not setting_key.endswith(
        ("File", "Path", "Dir")
    )


def check_open_reads(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if server.kind == NAME_SERVER and server.lists_brokers:
        yield SecurityProblem(
            "openReads",
            CheckState.OK,
            "unauthenticated clients can read all topics and the addresses of all brokers, as clients must",
            _OURS_REMEDY if server.is_ours else FENCE_REMEDY,
        )


def check_replication_port(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    port = (server.settings or {}).get("haListenPort")
    if port is None or server.has_open_replication is False:
        return
    remedy = "allow only the other brokers of its group to reach haListenPort"
    if server.has_open_replication is None:
        # A tunnel through kubectl forwards only to ports that pods declare.
        text = "its replication port was not tried from here"
        yield SecurityProblem(
            "unknownReplicationPort", CheckState.UNKNOWN, text, remedy, f"haListenPort={port}"
        )
        return
    text = "its replication port is reachable from here: every client can read all messages"
    yield SecurityProblem("replicationPort", CheckState.WARNING, text, remedy, f"haListenPort={port}")


def check_public_address(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if _is_public_addr(server.addr):
        yield SecurityProblem(
            "publicAddress",
            CheckState.WARNING,
            "its address is on the public Internet",
            f"{FENCE_REMEDY}, and require TLS and authentication",
        )


def check_automatic_topics(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if server.kind == BROKER and _is_setting_on(server, "autoCreateTopicEnable"):
        yield SecurityProblem(
            "automaticTopics",
            CheckState.OK,
            "no security problem, but a message to an unknown topic creates it, even if the name is wrong",
            "autoCreateTopicEnable=false",
        )


def check_proxy_authentication(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    if server.kind == PROXY and server.public_settings is not None:
        yield SecurityProblem(
            "openProxy",
            CheckState.WARNING,
            "clients are not authenticated: anyone on the network can send and receive through the proxy",
            f"{CREDENTIALS_FIRST} set authenticationEnabled=true and authorizationEnabled=true in "
            "rmq-proxy.json",
        )


def check_proxy_connections(server: AuditedServer, now: float) -> Iterator[SecurityProblem]:
    """Released proxies serve Channelz without authentication (ProxyStartup upstream)."""
    if server.lists_connections:
        yield SecurityProblem(
            "openConnections",
            CheckState.OK,
            "unauthenticated clients can read the addresses of all gRPC clients (Channelz)",
            FENCE_REMEDY,
        )


def _is_authentication_on(server: AuditedServer) -> bool:
    return _is_setting_on(server, "authenticationEnabled", "aclEnable")


def _is_setting_on(server: AuditedServer, *setting_keys: str) -> bool:
    return any((server.settings or {}).get(key, "").lower() == "true" for key in setting_keys)


def _is_public_addr(server_addr: str) -> bool:
    try:
        return ip_address(server_addr.rpartition(":")[0].strip("[]")).is_global
    except ValueError:
        return False


SECURITY_RULES: tuple[Callable[[AuditedServer, float], Iterator[SecurityProblem]], ...] = (
    check_release, check_secrets, check_open_settings, check_authentication, check_permissions, check_tls,
    check_replication_port, check_public_address, check_open_reads, check_automatic_topics,
    check_proxy_authentication, check_proxy_connections,
)  # fmt: skip

_OPEN_CHECKS = ("openNameServer", "openBrokerSettings", "noAuthentication", "openProxy")


def find_problems(server: AuditedServer, now: float) -> list[SecurityProblem]:
    """Return all problems of a server. Missing access control at a public address is critical."""
    found_problems = [problem for rule in SECURITY_RULES for problem in rule(server, now)]
    if _is_public_addr(server.addr):
        found_problems = [
            problem._replace(check_state=CheckState.CRITICAL)
            if problem.check_name in _OPEN_CHECKS
            else problem
            for problem in found_problems
        ]
    return found_problems


def judge_servers(scale: CheckScale, seen: SecurityObservation) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return an overall finding, and one per kind of problem with the servers concerned, worst first."""
    problems_by_check: dict[str, list[tuple[AuditedServer, SecurityProblem]]] = {}
    for server in seen.audited_servers:
        for problem in find_problems(server, seen.now_seconds):
            problems_by_check.setdefault(problem.check_name, []).append((server, problem))
    kinds = [_build_finding(name, problems) for name, problems in problems_by_check.items()]
    return judge_kinds(scale, [*kinds, *_list_unanswered(seen)], len(seen.audited_servers))


def _build_finding(check_name: str, problems: list[tuple[AuditedServer, SecurityProblem]]) -> CheckFinding:
    first = problems[0][1]
    overall_state = worst_state(problem.check_state for _, problem in problems)
    count_text = "" if len(problems) == 1 else f" ({len(problems)} servers)"
    details = [_format_evidence(server, problem) for server, problem in problems]
    remedy_lines = [
        f"remedy: {text}" for text in dict.fromkeys(problem.remedy_text for _, problem in problems)
    ]
    return CheckFinding(
        check_name,
        overall_state,
        f"{first.problem_text}{count_text}",
        (),
        (*details, *remedy_lines),
        brief_details=(*_group_evidence(problems), *remedy_lines),
    )


_MAX_NAMED_SERVERS = 3


def _group_evidence(problems: Iterable[tuple[AuditedServer, SecurityProblem]]) -> list[str]:
    """Name the servers; those of one kind with the same evidence share a line."""
    names_by_evidence: dict[tuple[str, str], list[str]] = {}
    for server, problem in problems:
        names_by_evidence.setdefault((server.kind, problem.evidence), []).append(server.name)
    return [
        f"{f'{kind} ' if kind == NAME_SERVER else ''}{abbreviate_names(names, _MAX_NAMED_SERVERS)}"
        + (f": {evidence}" if evidence else "")
        for (kind, evidence), names in names_by_evidence.items()
    ]


def _format_evidence(server: AuditedServer, problem: SecurityProblem) -> str:
    server_title = f"{server.kind} {server.name}" if server.kind == NAME_SERVER else server.name
    return f"{server_title}: {problem.evidence}" if problem.evidence else server_title


def _list_unanswered(seen: SecurityObservation) -> Iterator[CheckFinding]:
    failure_lines = [
        f"{_format_evidence(server, _NO_PROBLEM)}: {server.error}"
        for server in seen.audited_servers
        if server.error
    ]
    failure_lines += [seen.listing_problem] if seen.listing_problem else []
    if failure_lines:
        yield CheckFinding(
            "unanswered",
            CheckState.UNKNOWN,
            "servers without an answer could not be audited",
            (),
            tuple(failure_lines),
        )
    closed_lines = [
        _format_evidence(server, _NO_PROBLEM)
        for server in seen.audited_servers
        if not server.error and server.settings is None
    ]
    if closed_lines:
        yield CheckFinding(
            "unreadSettings",
            CheckState.UNKNOWN,
            "settings that these credentials may not read were not audited",
            (),
            tuple(closed_lines),
        )


_NO_PROBLEM = SecurityProblem("", CheckState.OK, "", "")
