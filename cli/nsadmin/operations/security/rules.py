"""The rules of the security audit. Each rule finds one kind of problem. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_address

from nsadmin.client.redaction import is_secret_name
from nsadmin.console.phrases import abbreviate_names, format_utc_second
from nsadmin.operations.checks.check import CheckScale
from nsadmin.operations.checks.findings import (
    CheckFinding,
    CheckMeasure,
    CheckState,
    state_weight,
    worst_state,
)
from nsadmin.operations.security.observer import (
    BROKER,
    NAME_SERVER,
    PROXY,
    AuditedServer,
    SecurityObservation,
)
from nsadmin.operations.security.problems import FENCE_REMEDY, SecurityProblem
from nsadmin.operations.security.proxy_rules import check_proxy_authentication, check_proxy_connections
from nsadmin.operations.security.vulnerabilities import find_affecting, parse_release, upgrade_remedy

AUDIT_MEASURES = (
    CheckMeasure("critical", "kinds of findings that give strangers access or secrets", critical="0"),
    CheckMeasure("warnings", "kinds of findings that leave an access open", warning="0"),
    CheckMeasure("servers", "checked servers"),
)
_FIRST_USERS_RELEASE = (5, 3, 0, 0)
_OURS_REMEDY = "start it with --credentials (docs/how-to/secure-the-name-server.md)"
_JAVA_REMEDY = (
    f"Apache's name server cannot authenticate clients: {FENCE_REMEDY}, or run `nsadmin namesrv "
    "--credentials`"
)


def check_vulnerabilities(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    if audited_server.is_ours:
        return
    is_listed = audited_server.kind in (NAME_SERVER, BROKER) and not audited_server.error
    if is_listed and parse_release(audited_server.version) is None:
        yield SecurityProblem(
            "unknownRelease",
            CheckState.UNKNOWN,
            "known vulnerabilities were not looked up: the release is unknown",
            "compare its release with the advisories of Apache RocketMQ",
            f"version {audited_server.version or 'not reported'}",
        )
    for known_vulnerability in find_affecting(
        audited_server.kind, audited_server.version, audited_server.settings
    ):
        check_state = CheckState.CRITICAL if known_vulnerability.is_grave else CheckState.WARNING
        yield SecurityProblem(
            known_vulnerability.name,
            check_state,
            known_vulnerability.attack_text,
            f"{upgrade_remedy(known_vulnerability)}; until then {FENCE_REMEDY}",
            f"version {audited_server.version}",
        )


def check_tls(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    if audited_server.speaks_tls is False:
        problem_text = "not encrypted: an attacker on the network path can read and change all data"
        yield SecurityProblem(
            "noTls",
            CheckState.WARNING,
            problem_text,
            "set up a certificate: tls.server.mode, tls.server.certPath",
        )
        return
    if audited_server.speaks_tls and audited_server.answers_plain_text:
        problem_text = "TLS is optional: an attacker on the network path can downgrade it to plain text"
        yield SecurityProblem(
            "plainText",
            CheckState.WARNING,
            problem_text,
            "set tls.server.mode=enforcing once all clients use TLS",
        )
    shown_certificate = audited_server.certificate
    if shown_certificate is None:
        return
    if shown_certificate.is_self_signed:
        problem_text = "self-signed certificate: clients cannot distinguish it from an attacker's"
        remedy_text = "set tls.test.mode.enable=false, and install a certificate of a trusted authority"
        yield SecurityProblem(
            "selfSigned", CheckState.WARNING, problem_text, remedy_text, f'"{shown_certificate.subject_name}"'
        )
    if shown_certificate.ends_at_seconds < now_seconds:
        validity_text = (
            f'"{shown_certificate.subject_name}" until '
            f"{format_utc_second(shown_certificate.ends_at_seconds * 1000)}"
        )
        remedy_text = "replace the certificate file: the server reads it without a restart"
        yield SecurityProblem(
            "expiredCertificate",
            CheckState.CRITICAL,
            "the certificate has expired",
            remedy_text,
            validity_text,
        )


def check_open_settings(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    """Judge by the public settings: a client that may read a name server's settings may change them."""
    public_settings = audited_server.public_settings
    if public_settings is None or audited_server.kind == PROXY:
        return
    if audited_server.kind == NAME_SERVER:
        if "true" in (public_settings.get("noRemoteConfig"), public_settings.get("readOnly")):
            return
        if audited_server.is_ours and public_settings.get("credentialsFile"):
            return
        problem_text = "unauthenticated clients can change its settings, KV config and routes"
        yield SecurityProblem(
            "openNameServer",
            CheckState.WARNING,
            problem_text,
            _OURS_REMEDY if audited_server.is_ours else _JAVA_REMEDY,
        )
    elif not _is_authentication_on(audited_server):
        problem_text = "unauthenticated clients can change its settings, and delete topics and groups"
        yield SecurityProblem(
            "openBrokerSettings",
            CheckState.WARNING,
            problem_text,
            f"require authentication, or {FENCE_REMEDY}",
        )


def check_authentication(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    """Brokers from 5.3 on do not report whether they authenticate: their public settings show it."""
    if audited_server.kind != BROKER or audited_server.settings is None:
        return
    if _is_setting_on(audited_server, "authenticationEnabled") and not _is_setting_on(
        audited_server, "authorizationEnabled"
    ):
        problem_text = "every authenticated account has all permissions"
        yield SecurityProblem(
            "noAuthorization",
            CheckState.WARNING,
            problem_text,
            "set authorizationEnabled=true in broker.conf",
        )
    if audited_server.public_settings is None:
        return
    if _is_authentication_on(audited_server):
        problem_text = "it requires credentials, but returns its settings to unauthenticated clients"
        yield SecurityProblem(
            "settingsWithoutCredentials",
            CheckState.WARNING,
            problem_text,
            "check the allow lists of its accounts",
        )
        return
    problem_text = "clients are not authenticated: anyone on the network can read and write all messages"
    server_release = parse_release(audited_server.version)
    has_users = server_release is None or server_release >= _FIRST_USERS_RELEASE
    required_settings = (
        "authenticationEnabled=true and authorizationEnabled=true" if has_users else "aclEnable=true"
    )
    yield SecurityProblem(
        "noAuthentication", CheckState.WARNING, problem_text, f"set {required_settings} in broker.conf"
    )


def check_secrets(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    for read_settings, check_state, check_name, problem_text in (
        (
            audited_server.public_settings,
            CheckState.CRITICAL,
            "openSecrets",
            "it returns secrets to unauthenticated clients that read its settings",
        ),
        (
            audited_server.settings,
            CheckState.OK,
            "secretsInSettings",
            "its settings contain secrets, which every client with read permission can see",
        ),
    ):
        secret_keys = [
            setting_key
            for setting_key, setting_value in (read_settings or {}).items()
            if is_secret_name(setting_key) and _can_be_secret(setting_key, setting_value)
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


def check_open_reads(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    if audited_server.kind == NAME_SERVER and audited_server.lists_brokers:
        problem_text = "unauthenticated clients can read the addresses of all brokers, and all topics"
        yield SecurityProblem(
            "openReads",
            CheckState.OK,
            problem_text,
            _OURS_REMEDY if audited_server.is_ours else FENCE_REMEDY,
        )


def check_replication_port(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    replication_port = (audited_server.settings or {}).get("haListenPort")
    if replication_port is None or audited_server.has_open_replication is False:
        return
    check_name, check_state = "replicationPort", CheckState.WARNING
    problem_text = "its replication port is reachable from here: every client can read all messages"
    if audited_server.has_open_replication is None:
        # A tunnel through kubectl forwards only to ports that pods declare.
        check_name, check_state = "unknownReplicationPort", CheckState.UNKNOWN
        problem_text = "its replication port was not tried from here"
    remedy_text = "allow only the other brokers of its group to reach haListenPort"
    yield SecurityProblem(
        check_name, check_state, problem_text, remedy_text, f"haListenPort={replication_port}"
    )


def check_public_address(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    if _is_public_addr(audited_server.addr):
        problem_text = "its address is on the public Internet"
        yield SecurityProblem(
            "publicAddress",
            CheckState.WARNING,
            problem_text,
            f"{FENCE_REMEDY}, and require TLS and authentication",
        )


def check_automatic_topics(audited_server: AuditedServer, now_seconds: float) -> Iterator[SecurityProblem]:
    if audited_server.kind == BROKER and _is_setting_on(audited_server, "autoCreateTopicEnable"):
        problem_text = "a message to an unknown topic creates the topic, also if its name is a mistake"
        yield SecurityProblem("automaticTopics", CheckState.OK, problem_text, "autoCreateTopicEnable=false")


def _is_authentication_on(audited_server: AuditedServer) -> bool:
    return _is_setting_on(audited_server, "authenticationEnabled", "aclEnable")


def _is_setting_on(audited_server: AuditedServer, *setting_keys: str) -> bool:
    return any(
        (audited_server.settings or {}).get(setting_key, "").lower() == "true" for setting_key in setting_keys
    )


def _is_public_addr(server_addr: str) -> bool:
    try:
        return ip_address(server_addr.rpartition(":")[0].strip("[]")).is_global
    except ValueError:
        return False


SECURITY_RULES: tuple[Callable[[AuditedServer, float], Iterator[SecurityProblem]], ...] = (
    check_vulnerabilities, check_secrets, check_open_settings, check_authentication, check_tls,
    check_replication_port, check_public_address, check_open_reads, check_automatic_topics,
    check_proxy_authentication, check_proxy_connections,
)  # fmt: skip

_OPEN_CHECKS = ("openNameServer", "openBrokerSettings", "noAuthentication", "openProxy")


def find_problems(audited_server: AuditedServer, now_seconds: float) -> list[SecurityProblem]:
    """Return all problems of a server. Missing access control at a public address is critical."""
    found_problems = [
        found_problem
        for security_rule in SECURITY_RULES
        for found_problem in security_rule(audited_server, now_seconds)
    ]
    if _is_public_addr(audited_server.addr):
        found_problems = [
            found_problem._replace(check_state=CheckState.CRITICAL)
            if found_problem.check_name in _OPEN_CHECKS
            else found_problem
            for found_problem in found_problems
        ]
    return found_problems


def judge_servers(
    scale: CheckScale, observation: SecurityObservation
) -> tuple[CheckFinding, list[CheckFinding]]:
    """Return an overall finding, and one per kind of problem with the servers concerned, worst first."""
    problems_by_check: dict[str, list[tuple[AuditedServer, SecurityProblem]]] = {}
    for audited_server in observation.audited_servers:
        for found_problem in find_problems(audited_server, observation.now_seconds):
            problems_by_check.setdefault(found_problem.check_name, []).append((audited_server, found_problem))
    part_findings = [
        _build_finding(check_name, server_problems)
        for check_name, server_problems in problems_by_check.items()
    ]
    part_findings += _list_unanswered(observation)
    part_findings.sort(key=lambda part_finding: -state_weight(part_finding.state))
    critical_count, warning_count = (
        sum(part_finding.state is counted_state for part_finding in part_findings)
        for counted_state in (CheckState.CRITICAL, CheckState.WARNING)
    )
    samples = [
        scale.make_sample("critical", critical_count),
        scale.make_sample("warnings", warning_count),
        scale.make_sample("servers", len(observation.audited_servers)),
    ]
    minimum_state = (
        CheckState.UNKNOWN
        if any(part_finding.state is CheckState.UNKNOWN for part_finding in part_findings)
        else CheckState.OK
    )
    servers_text = (
        f"of {len(observation.audited_servers)} servers"
        if len(observation.audited_servers) != 1
        else "of 1 server"
    )
    summary = f"{critical_count} critical, {_format_warnings(warning_count)} {servers_text}"
    return scale.make_finding(summary, samples, minimum_state=minimum_state), part_findings


def _format_warnings(warning_count: int) -> str:
    return "1 warning" if warning_count == 1 else f"{warning_count} warnings"


def _build_finding(
    check_name: str, server_problems: list[tuple[AuditedServer, SecurityProblem]]
) -> CheckFinding:
    first_problem = server_problems[0][1]
    overall_state = worst_state(found_problem.check_state for _, found_problem in server_problems)
    count_text = "" if len(server_problems) == 1 else f" ({len(server_problems)} servers)"
    detail_lines = [
        _format_evidence(audited_server, found_problem) for audited_server, found_problem in server_problems
    ]
    remedy_lines = _list_remedies(server_problems)
    return CheckFinding(
        check_name,
        overall_state,
        f"{first_problem.problem_text}{count_text}",
        (),
        (*detail_lines, *remedy_lines),
        brief_details=(*_group_evidence(server_problems), *remedy_lines),
    )


_MAX_NAMED_SERVERS = 3


def _group_evidence(server_problems: Iterable[tuple[AuditedServer, SecurityProblem]]) -> list[str]:
    """Name the servers; those of one kind with the same evidence share a line."""
    names_by_evidence: dict[tuple[str, str], list[str]] = {}
    for audited_server, found_problem in server_problems:
        names_by_evidence.setdefault((audited_server.kind, found_problem.evidence), []).append(
            audited_server.name
        )
    return [
        f"{f'{kind} ' if kind == NAME_SERVER else ''}{abbreviate_names(names, _MAX_NAMED_SERVERS)}"
        + (f": {evidence}" if evidence else "")
        for (kind, evidence), names in names_by_evidence.items()
    ]


def _format_evidence(audited_server: AuditedServer, found_problem: SecurityProblem) -> str:
    server_title = (
        f"{audited_server.kind} {audited_server.name}"
        if audited_server.kind == NAME_SERVER
        else audited_server.name
    )
    return f"{server_title}: {found_problem.evidence}" if found_problem.evidence else server_title


def _list_remedies(server_problems: Iterable[tuple[AuditedServer, SecurityProblem]]) -> list[str]:
    return [
        f"remedy: {remedy_text}"
        for remedy_text in dict.fromkeys(found_problem.remedy_text for _, found_problem in server_problems)
    ]


def _list_unanswered(observation: SecurityObservation) -> Iterator[CheckFinding]:
    failure_lines = [
        f"{_format_evidence(audited_server, _NO_PROBLEM)}: {audited_server.error}"
        for audited_server in observation.audited_servers
        if audited_server.error
    ]
    failure_lines += [observation.listing_problem] if observation.listing_problem else []
    if failure_lines:
        yield CheckFinding(
            "unanswered",
            CheckState.UNKNOWN,
            "servers without an answer could not be audited",
            (),
            tuple(failure_lines),
        )
    closed_lines = [
        _format_evidence(audited_server, _NO_PROBLEM)
        for audited_server in observation.audited_servers
        if not audited_server.error and audited_server.settings is None
    ]
    if closed_lines:
        problem_text = "settings that these credentials may not read were not audited"
        yield CheckFinding("unreadSettings", CheckState.UNKNOWN, problem_text, (), tuple(closed_lines))


_NO_PROBLEM = SecurityProblem("", CheckState.OK, "", "")
