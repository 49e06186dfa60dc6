"""Runs every applicable check concurrently, so that an unreachable server delays one check only."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep, time
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.access import Tls
from nsadmin.client.results import error_text
from nsadmin.operations.checks.finding import Finding, State, weight, worst
from nsadmin.operations.checks.thresholds import Scale

# Each check function imports its own modules, so that nothing is loaded for checks that do not apply.

_AT_ONCE = 32


class Asked(NamedTuple):
    """What to check beside the cluster itself: topics, consumer groups, journal folders, this client's TLS.

    Name servers get `settle_seconds` to agree. `limits_by_check` has the warning and critical ranges that
    replace the defaults, as texts. `expected_brokers` is the number of brokers that should be registered.
    """

    topics: Sequence[str] = ()
    groups: Sequence[str] = ()
    journals: Sequence[Path] = ()
    tls: Tls | None = None
    settle: float = 50.0
    limits: Mapping[str, tuple[str | None, str | None]] = {}
    expected: int | None = None

    def scale(self, check: str) -> Scale:
        """Return the measures of a check with their limits. Raises InvalidRangeError."""
        return Scale(check, *self.limits.get(check, (None, None)))


class NotApplicable(Exception):
    """The check has nothing to check. The message gives the reason."""


Check = Callable[[AdminClient, Asked], Finding]


def _namesrv(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import namesrv

    return namesrv.judge(asked.scale("namesrv"), namesrv.look(admin))


def _brokers(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import brokers

    return brokers.judge(asked.scale("brokers"), brokers.look(admin), asked.expected)


def _divergence(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import divergence
    from nsadmin.operations.divergence.looking import Looking

    if len(admin.addresses.addrs) < 2:
        raise NotApplicable("there is one name server")
    looking = Looking(admin, lambda: int(monotonic() * 1000), settle=int(asked.settle * 1000))
    return divergence.judge(asked.scale("divergence"), looking.judge(sleep, lambda look, seconds: None))


def _writable(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import writable

    return writable.judge(asked.scale("writable"), writable.look(admin))


def _heartbeat(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import heartbeat

    return heartbeat.judge(asked.scale("heartbeat"), heartbeat.look(admin))


def _registration_size(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import registration_size

    return registration_size.judge(asked.scale("registrationSize"), registration_size.look(admin))


def _certificates(admin: AdminClient, asked: Asked) -> Finding:
    if asked.tls is None:
        raise NotApplicable("TLS is not in use")
    from nsadmin.operations.checks import certificates

    return certificates.judge(asked.scale("certificates"), certificates.look(admin, time(), asked.tls))


def _journal(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import journal

    now = int(time() * 1000)
    servers = journal.of_servers(admin)
    if not asked.journals and all(status is None for _, status, _ in servers):
        raise NotApplicable("no journal is known")
    folders = [journal.of_folder(folder, now - journal.DAY, False) for folder in asked.journals]
    return journal.judge(asked.scale("journal"), journal.Seen(now, servers, folders))


def _drain(admin: AdminClient, asked: Asked) -> Finding:
    from nsadmin.operations.checks import drain
    from nsadmin.operations.drain.keeping import home

    seen = drain.look(admin, int(time() * 1000), home())
    if not seen.drains and not seen.unreadable:
        raise NotApplicable("no broker of this cluster is drained from here")
    return drain.judge(asked.scale("drain"), seen)


CHECKS: Mapping[str, Check] = {
    "namesrv": _namesrv,
    "brokers": _brokers,
    "divergence": _divergence,
    "writable": _writable,
    "heartbeat": _heartbeat,
    "registrationSize": _registration_size,
    "certificates": _certificates,
    "journal": _journal,
    "drain": _drain,
}
"""The checks of a whole cluster by name. The checks in _SUBJECT_CHECKS need the name of a topic or group."""


def _topic(admin: AdminClient, asked: Asked, name: str) -> Finding:
    from nsadmin.operations.checks import topic

    return topic.judge(asked.scale("topic"), topic.look(admin, name))


def _lag(admin: AdminClient, asked: Asked, name: str) -> Finding:
    from nsadmin.operations.checks import lag

    return lag.judge(asked.scale("lag"), lag.look(admin, int(time() * 1000), name))


_ABOUT: Mapping[str, Callable[[AdminClient, Asked, str], Finding]] = {"topic": _topic, "lag": _lag}


def run(
    connect: Callable[[], AdminClient], asked: Asked, left_out: Collection[str] = ()
) -> tuple[Finding, list[Finding]]:
    """Return the combined finding and all findings. Calls `connect_client` in this thread, once per check."""
    # This import takes 10 ms, which other commands need not pay.
    from concurrent.futures import ThreadPoolExecutor

    steps: list[tuple[str, str | None]] = [(name, None) for name in CHECKS if name not in left_out]
    steps += [("topic", name) for name in asked.topics]
    steps += [("lag", name) for name in asked.groups]
    clients = [connect() for _ in steps]
    with ThreadPoolExecutor(min(len(steps), _AT_ONCE) or 1) as pool:
        results = list(pool.map(lambda step, admin: _result(admin, asked, *step), steps, clients))
    findings = [result for result in results if isinstance(result, Finding)]
    not_run = [result for result in results if isinstance(result, str)]
    return _whole(findings, not_run), findings


def _result(admin: AdminClient, asked: Asked, name: str, about: str | None) -> Finding | str:
    """Return the finding of a check, UNKNOWN if it failed; or the reason why it does not apply."""
    try:
        with admin:
            return CHECKS[name](admin, asked) if about is None else _ABOUT[name](admin, asked, about)
    except NotApplicable as why:
        return f"{name}: {why}"
    except RocketMQError as error:
        return Scale(name).unknown(error_text(error), about=about)


def _whole(findings: Sequence[Finding], not_run: Sequence[str]) -> Finding:
    bad = [finding for finding in findings if finding.state is not State.OK]
    bad.sort(key=lambda finding: -weight(finding.state))
    summary = f"all {len(findings)} checks are OK"
    if bad:
        names = [f"{one.check}{f' {one.about}' if one.about else ''} {one.state.name}" for one in bad]
        summary = f"{len(bad)} of {len(findings)} checks are not OK: {', '.join(names)}"
    details = tuple(f"not run: {why}" for why in not_run)
    return Finding("all", worst([one.state for one in findings]), summary, (), details)
