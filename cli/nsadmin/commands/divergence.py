"""divergence: compares the state of all name servers, and explains the differences."""

from collections.abc import Iterator, Sequence
from time import monotonic, sleep
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import error_text
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.units import counted
from nsadmin.diagnostics import UsageError
from nsadmin.operations.divergence.comparing import SECTIONS, hashes
from nsadmin.operations.divergence.findings import Finding, by_server, in_words, name_of
from nsadmin.operations.divergence.looking import Look, Looking
from nsadmin.output import Millis, Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "what", "name", "brokerName", "count", "state", "seenFor", "differs", "cause", "causeKind", "advice",
    "values",
)  # fmt: skip
IN_TABLE = ("what", "name", "brokerName", "count", "state", "seenFor", "differs", "cause")
HASH_COLUMNS = (
    "namesrvAddr", "brokers", "topics", "brokerHash", "topicHash", "kvHash", "settingHash", "error",
)  # fmt: skip

_LONGEST = 86_400


class Differ(RocketMQError):
    """Name servers have different state that does not converge."""


class NotKnown(RocketMQError):
    """Too few name servers answered to compare them."""


@shows(COLUMNS, HASH_COLUMNS)
def divergence(
    session: Session,
    detail: Annotated[bool, Option("--detail", help="A row for each thing, not for each kind.")] = False,
    hashes_: Annotated[
        bool, Option("--hashes", help="Instead, a row for each name server: a hash of each section.")
    ] = False,
    settle: Annotated[
        float | None,
        Option("--settle", metavar="SECONDS", help="How long brokers may take to make all equal; 60."),
    ] = None,
    sections: Annotated[
        list[str] | None,
        Option(
            "--section",
            metavar="SECTION",
            help="Only broker, topic, kv or setting. Repeatable.",
            values="|".join(SECTIONS),
        ),
    ] = None,
    namespaces: Annotated[
        list[str] | None,
        Option(
            "-s",
            "--namespace",
            metavar="NAMESPACE",
            help="With this KV namespace too. Repeatable.",
            values="namespaces",
        ),
    ] = None,
) -> Rows:
    """Compare all name servers: brokers and their addresses, queues of topics, KV config, settings.

    Name servers never talk to each other: brokers make them equal, with a heartbeat every 30 s. What differs
    is looked at again, for at most --settle seconds (60, two heartbeats): what has gone by then was
    convergence, what is still there is drift. A difference that came up in between is `new`. KV config and
    settings, which no broker makes equal, are drift after 2 s. With --settle 0 there is one look, and all
    that differs is drift; so it is with --hashes. With --watch each look remembers the ones before.

    What differs in one way is one row: `name` is the first of `count` things. Brokers concerned are asked
    what they know, for the likely `cause`. Name servers do not list their KV namespaces: that of order
    configurations is compared, and those that are named. Settings count that all of them have and that name
    no place. The exit code is 0 where all agree or still converge, 1 where they diverge, 3 where that is not
    known: fewer than two answered, or those that did agree and others are silent.

    Examples:
        # Do they agree? Here they do not (exit code 1)
        nsadmin divergence
        # Now, without a second look, every single thing, as JSON (exit code 1)
        nsadmin divergence --settle 0 --detail --json
        # A hash for each name server and section
        nsadmin divergence --section topic --hashes
    """
    patience = settle if settle is not None else 0.0 if hashes_ else 60.0
    if not 0 <= patience <= _LONGEST:
        raise UsageError(f"divergence: --settle {patience:g} cannot be: give seconds, from 0 to {_LONGEST}")
    wrong = [name for name in sections or () if name not in SECTIONS]
    if wrong:
        raise UsageError(f"divergence: no section {wrong[0]!r}: there are {', '.join(SECTIONS)}")
    looking = session.kept(
        lambda: Looking(
            session.admin,
            lambda: int(monotonic() * 1000),
            namespaces=tuple(namespaces or ()),
            sections=tuple(sections or SECTIONS),
            settle=int(patience * 1000),
        )
    )
    if session.options.watch is not None:
        look = looking.look()
    else:
        look = looking.judge(sleep, lambda first, seconds: session.remark(_waiting(first, seconds)))
    return _hashes(look) if hashes_ else _rows(look, detail)


def _waiting(look: Look, seconds: float) -> str:
    count = sum(len(finding.differences) for finding in look.findings if finding.state == "new")
    return f"{counted(count, 'difference')}; looking again for {seconds:.0f} s at most, whether that is drift"


def _rows(look: Look, detail: bool) -> Rows:
    servers = look.comparison.servers
    rows = [
        row
        for finding in look.findings
        for row in (_each(finding, servers) if detail else [_row(finding, servers)])
    ]
    notes = [_summary(look), *_silent(look)]
    drift = [found for found in look.findings if found.state == "drift"]
    notes += [f"to do: {text}" for text in dict.fromkeys(found.cause.advice for found in drift)]
    return Rows(COLUMNS, rows, _errors(look), notes, IN_TABLE)


def _row(finding: Finding, servers: Sequence[str]) -> Row:
    first = finding.differences[0]
    implied = f", with {counted(len(finding.implied), 'topic')}" if finding.implied else ""
    return {
        "what": finding.what,
        "name": name_of(first.item),
        "brokerName": _broker_name(finding),
        "count": len(finding.differences),
        "state": finding.state,
        "seenFor": Millis(finding.age),
        "differs": in_words(first, servers) + implied,
        "cause": finding.cause.text,
        "causeKind": finding.cause.kind,
        "advice": finding.cause.advice,
        "values": by_server(first, servers),
    }


def _each(finding: Finding, servers: Sequence[str]) -> Iterator[Row]:
    """A row for each difference, including topics that differ only because their broker does."""
    for one in finding.differences:
        yield _row(finding._replace(differences=(one,), implied=()), servers)
    for one in finding.implied:
        yield {
            **_row(finding._replace(what="topic", differences=(one,), implied=()), servers),
            "cause": f"its broker {one.item.place} is not there",
        }


def _broker_name(finding: Finding) -> str | None:
    item = finding.differences[0].item
    if finding.what == "topic":
        return item.place or None
    return item.name if finding.what == "broker" else None


def _summary(look: Look) -> str:
    asked, answered = len(look.answers), len(look.pictures)
    drift = sum(len(found.differences) for found in look.findings if found.state == "drift")
    new = sum(len(found.differences) for found in look.findings if found.state == "new")
    if look.verdict == "unknown":
        return f"unknown: {answered} of {asked} name servers answered, and it takes two to compare"
    if look.verdict == "diverge":
        return f"they diverge: {counted(drift, 'difference')}" + (f", and {new} newer" if new else "")
    if look.verdict == "partial":
        return f"partly known: {answered} of {asked} name servers answered" + (
            f"; {counted(new, 'difference')} younger than two heartbeats" if new else ", and agree"
        )
    if look.verdict == "converging":
        return f"no drift: {counted(new, 'difference')} younger than two heartbeats"
    picture = look.pictures[0]
    known = counted(len(picture.brokers), "broker"), counted(len(picture.topics), "topic")
    return f"{answered} name servers agree: {', '.join(known)}"


def _silent(look: Look) -> list[str]:
    return [
        f"name server {addr}: {error_text(error)}" for addr, _, error in look.answers if error is not None
    ]


def _errors(look: Look) -> list[RocketMQError | None]:
    """The errors that decide the exit code: 1 if name servers diverge, 3 if that is unknown."""
    if look.verdict == "diverge":
        return [Differ("they diverge")]
    return [None, NotKnown("not all answered")] if look.verdict in ("unknown", "partial") else []


def _hashes(look: Look) -> Rows:
    rows: list[Row] = []
    for addr, picture, error in look.answers:
        if picture is None:
            rows.append({"namesrvAddr": addr, "error": error and error_text(error)})
            continue
        rows.append(
            {
                "namesrvAddr": addr,
                "brokers": len(picture.brokers),
                "topics": len(picture.topics),
                **{f"{section}Hash": text for section, text in hashes(picture).items()},
            }
        )
    return Rows(HASH_COLUMNS, rows, _errors(look), [_summary(look), *_silent(look)])
