"""drain, undrain, drainStatus: stop client writes to a broker, allow them again, list unfinished drains."""

from collections.abc import Callable, Iterator, Mapping
from time import sleep, time
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin import audit
from nsadmin.client import NotApplied, NotFound
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.stopping import Stopped, stopping
from nsadmin.commands.telling import Teller
from nsadmin.commands.times import utc
from nsadmin.commands.values import duration
from nsadmin.diagnostics import Interrupted, UsageError
from nsadmin.operations import shell
from nsadmin.operations.drain.events import CommandEnded, Record, names, words
from nsadmin.operations.drain.facts import Server
from nsadmin.operations.drain.keeping import Keeping, Kept, folder_of, home, kept
from nsadmin.operations.drain.looking import Cluster
from nsadmin.operations.drain.machine import Rules
from nsadmin.operations.drain.risks import masters
from nsadmin.operations.drain.running import Clock, Drain, Plan, Refused, check
from nsadmin.operations.drain.state import BadState
from nsadmin.operations.drain.undoing import Undo, differing
from nsadmin.output import Row, Rows, Text
from nsadmin.session import Session

COLUMNS = ("namesrvAddr", "brokerName", "topicCount", "openTopics", "result", "error")
UNDO_COLUMNS = ("namesrvAddr", "brokerName", "topicCount", "how", "differing", "result", "error")
STATUS_COLUMNS = (
    "brokerName", "clusterName", "phase", "started", "by", "pid", "namesrvAddr", "topicCount", "openTopics",
    "reopened", "differing", "error",
)  # fmt: skip
IN_TABLE = (
    "brokerName", "phase", "started", "pid", "namesrvAddr", "topicCount", "openTopics", "reopened",
    "differing", "error",
)  # fmt: skip

Broker = Annotated[str, Word(("-b", "--brokerName"), "BROKER", "Name of a broker, as in clusterList.")]
AllowUnreachable = Annotated[
    bool, Option("--allow-unreachable", help="Although a name server does not answer.")
]
Threshold = Annotated[
    int,
    Option(
        "--threshold", metavar="N", help="Messages a minute that count as none; 0 if left out.", minimum=0
    ),
]
Settle = Annotated[
    str,
    Option(
        "--settle",
        metavar="TIME",
        help="How long clients take to look at routes again (pollNameServerInterval); 30s if left out.",
    ),
]
Interval = Annotated[
    str, Option("--interval", metavar="TIME", help="From one look to the next; 10s if left out.")
]
Intervals = Annotated[
    int,
    Option("--intervals", metavar="N", help="So many in a row without writes; 3 if left out.", minimum=1),
]
CLOCK = Clock(lambda: int(time() * 1000), sleep)


@shows(COLUMNS)
def drain(
    session: Session,
    broker: Broker,
    hold: Annotated[bool, Option("--hold", help="Go on holding when it is safe, until Ctrl-C.")] = False,
    then: Annotated[
        str | None,
        Option(
            "--then",
            metavar="COMMAND",
            help="What the shell is to run once it is safe; {brokerName} and {brokerAddr} are filled in.",
        ),
    ] = None,
    for_good: Annotated[
        bool, Option("--for-good", help="Wait also until no consumer group has anything left to read here.")
    ] = False,
    durable: Annotated[
        bool,
        Option(
            "--durable",
            help="Through brokerPermission, which a restarted broker keeps, and not on name servers.",
        ),
    ] = False,
    force: Annotated[bool, Option("--force", help="Although topics would be left without a broker.")] = False,
    allow_unreachable: AllowUnreachable = False,
    threshold: Threshold = 0,
    settle: Settle = "30s",
    interval: Interval = "10s",
    intervals: Intervals = 3,
) -> Rows | Iterator[Text]:
    """Stop writes to a broker, keep them stopped, and say when it can be stopped.

    First it is checked what would be left: it is refused, without --force, where a topic would lose its last
    queue that can be written to or its last master, and where clients go on writing whatever they are told
    (order configurations, static topics). Then the broker's queues are saved as each name server has them,
    the write permission is taken away on each, and routes are read back. Whatever a registration opens again
    is closed again. When clients had time to look and no message came for --intervals looks in a row, and
    slaves have all there is, it is safe to stop the broker.

    All of that is kept in a file: a drain that was interrupted goes on when it is started again, and a second
    one of the same broker joins the first. undrain undoes it. The exit code is 3 where a name server did not
    answer in the end.

    Examples:
        # What would be left without the broker: some topics are on this one alone (exit code 1)
        nsadmin drain broker-a-0 --dry-run
        # All the same; about a minute later it can be stopped
        nsadmin drain broker-a-0 --force --yes
    """
    plan = Plan(
        broker,
        rules("drain", settle, intervals, threshold, for_good),
        pace("drain", interval),
        durable,
        force,
        allow_unreachable,
        hold,
        _command(broker, then),
        audit.user(),
    )
    world = Cluster(session.admin, broker)
    servers = world.servers()
    keeping = _keeping(session, broker, servers)
    loaded = None if keeping is None else keeping.load()
    if keeping is not None and loaded is not None and not session.dry_run:
        if loaded[0].durable != durable:
            how = "durable" if loaded[0].durable else "not durable"
            session.remark(f"the drain of {broker} that is kept is {how}, and goes on so")
        return _told(session, plan, lambda clock: Drain(plan, world, keeping, clock).run(None, servers))
    master = masters(servers) or ""
    checked = check(
        plan,
        servers,
        world.system_topics(master),
        world.ordered(master) if durable else frozenset(),
        CLOCK.now(),
    )
    refusal = _refusal(plan, [item.text for item in checked.risks])
    if session.dry_run:
        return _planned(broker, servers, refusal)
    if refusal is not None:
        raise refusal
    session.confirm(f"Drain {broker} on {', '.join(server.addr for server in servers)}?")
    assert keeping is not None
    return _told(session, plan, lambda clock: Drain(plan, world, keeping, clock).run(checked, servers))


def rules(command: str, settle: str, intervals: int, threshold: int, for_good: bool = False) -> Rules:
    """Parse the options that say when stopping a broker is safe; UsageError for an invalid one."""
    return Rules(
        round(duration(command, "--settle", settle, 0.1, 3600) * 1000), intervals, threshold, for_good
    )


def pace(command: str, interval: str) -> float:
    """Parse --interval into the seconds between two observations; UsageError for an invalid one."""
    return duration(command, "--interval", interval, 0.1, 600)


def _command(broker: str, then: str | None) -> Callable[[str], CommandEnded] | None:
    if then is None:
        return None
    wrong = shell.unknown_fields(then, {"brokerName": "", "brokerAddr": ""})
    if wrong:
        raise UsageError(
            f"drain: --then: nobody knows {{{wrong[0]}}}; there are {{brokerName}} and {{brokerAddr}}"
        )

    def run(addr: str) -> CommandEnded:
        command = shell.filled(then, {"brokerName": broker, "brokerAddr": addr})
        return CommandEnded(CLOCK.now(), command, shell.run(command))

    return run


def _refusal(plan: Plan, risks: list[str]) -> Refused | None:
    if not risks or plan.force:
        return None
    return Refused(f"{'; '.join(risks)}; --force drains {plan.broker} all the same")


def _keeping(session: Session, broker: str, servers: tuple[Server, ...]) -> Keeping | None:
    """Find the folder of the broker's drain; None if neither a name server nor a saved drain has it."""
    cluster = next((server.cluster for server in servers if server.cluster), None)
    if cluster is not None:
        return Keeping(folder_of(home(), cluster, broker), broker)
    for found in kept(home()):
        if isinstance(found, Kept) and found.state.broker == broker:
            return Keeping(found.folder, broker)
    return None


def _planned(broker: str, servers: tuple[Server, ...], refusal: Refused | None) -> Rows:
    errors = [NotApplied(server.error) if server.error else refusal for server in servers]
    rows: list[Row] = [
        {
            "namesrvAddr": server.addr,
            "brokerName": broker,
            "topicCount": None if server.error else len(server.topics),
            "openTopics": None if server.error else len(server.open_topics),
            **outcome(error, "dry-run"),
        }
        for server, error in zip(servers, errors, strict=True)
    ]
    return Rows(COLUMNS, rows, errors)


def _told(session: Session, plan: Plan, begin: Callable[[Clock], Iterator[Record]]) -> Iterator[Text]:
    """Run the drain and yield a line for each event; the last text decides the exit code."""
    tell = Teller(session, "drain", words)
    safe: Record | None = None
    ended: Record | None = None
    with stopping(CLOCK) as stop, tell:
        try:
            for told in begin(stop.clock):
                ended = told if told["event"] == "commandEnded" else ended
                safe = {"safe": told, "unsafe": None, "reopened": None}.get(told["event"], safe)
                yield tell(told)
                stop.check()
        except Stopped:
            if not (plan.hold and safe):
                raise Interrupted(
                    f"interrupted; the drain is kept: nsadmin drain {plan.broker} goes on with it,"
                    f" nsadmin undrain {plan.broker} undoes it"
                ) from None
    if ended is not None and ended["code"]:
        raise Refused(f"the command of --then ended with {ended['code']}; {plan.broker} stays drained")
    unknown = [] if safe is None or plan.allow_unreachable else safe["unknown"]
    if unknown and plan.then is not None and ended is None:
        session.remark(f"the command of --then was not run: {', '.join(unknown)} did not answer")
    yield Text("", [*(NotApplied(f"{addr} did not answer") for addr in unknown), None])


@shows(UNDO_COLUMNS)
def undrain(session: Session, broker: Broker) -> Rows:
    """Allow writes to a drained broker again, exactly as they were allowed before the drain.

    Each name server is given the queues that it had, topic by topic; topics that were created or changed on
    the broker since keep what they have there. Name servers of 4.x do not take that: for them the broker is
    told to register all that it has. Routes are read back; what is not as before is shown, with exit code 3,
    and the drain stays kept.

    Examples:
        # Producers come back to broker-a-0
        nsadmin undrain broker-a-0 --yes
    """
    world = Cluster(session.admin, broker)
    servers = world.servers()
    keeping = _keeping(session, broker, servers)
    loaded = None if keeping is None else keeping.load()
    if keeping is None or loaded is None:
        raise NotFound(f"no drain of {broker} is kept in {home() / 'drains'}")
    if session.dry_run:
        own = world.own_queues(masters(servers) or "")
        known = None if isinstance(own, str) else own
        return _undone(broker, [_would(server, differing(loaded[1], known, server)) for server in servers])
    session.confirm(f"Allow writes to {broker} on {', '.join(server.addr for server in servers)} as before?")
    told = list(Undo(broker, world, keeping, CLOCK).run())
    return _undone(broker, [_put_back(item) for item in told if item["event"] == "putBack"])


def _would(server: Server, left: Mapping[str, object]) -> Row:
    return {
        "namesrvAddr": server.addr,
        "topicCount": len(left),
        "result": "failed" if server.error else "dry-run",
        "error": server.error,
    }


def _put_back(told: Record) -> Row:
    left = told["differing"]
    error = told["error"] or (
        f"not as before: {names(f'{t} ({why})' for t, why in left.items())}" if left else None
    )
    return {
        "namesrvAddr": told["addr"],
        "topicCount": told["topics"],
        "how": told["how"],
        "differing": left or None,
        "result": "failed" if told["error"] else "partly" if left else "done",
        "error": error,
    }


def _undone(broker: str, rows: list[Row]) -> Rows:
    errors: list[RocketMQError | None] = []
    for row in rows:
        errors.append(NotApplied(str(row["error"])) if row["error"] else None)
        if row["result"] == "partly":
            # Other topics are as before: the None makes the exit code that of a partial failure.
            errors.append(None)
    notes = [f"{row['namesrvAddr']}: {row['error']}" for row in rows if row["error"]]
    in_table = tuple(name for name in UNDO_COLUMNS if name != "differing")
    return Rows(UNDO_COLUMNS, [{"brokerName": broker, **row} for row in rows], errors, notes, in_table)


@shows(STATUS_COLUMNS)
def drain_status(
    session: Session,
    broker: Annotated[
        str | None,
        Word(("-b", "--brokerName"), "BROKER", "Only the drain of this broker.", required=False),
    ] = None,
) -> Rows:
    """List the drains that are not undone, half-finished ones too, and what differs now from what should be.

    A drained broker should have no topic open to writes; while a drain is being undone, topics should be as
    before it. pid is the process that is at it now.

    Examples:
        # All of them
        nsadmin drainStatus
    """
    rows: list[Row] = []
    errors: list[RocketMQError | None] = []
    for found in kept(home()):
        if isinstance(found, BadState):
            rows.append({"error": str(found)})
            errors.append(found)
        elif broker in (None, found.state.broker):
            for row in _status(session, found):
                rows.append(row)
                errors.append(NotApplied(str(row["error"])) if row["error"] else None)
    if broker is not None and not rows:
        raise NotFound(f"no drain of {broker} is kept in {home() / 'drains'}")
    return Rows(STATUS_COLUMNS, rows, errors, (), IN_TABLE)


def _status(session: Session, found: Kept) -> Iterator[Row]:
    state = found.state
    common: Row = {
        "brokerName": state.broker,
        "clusterName": state.cluster,
        "phase": state.phase,
        "started": utc(state.started),
        "by": state.by,
        "pid": found.pid,
        "reopened": state.reopened,
    }
    world = Cluster(session.admin, state.broker)
    servers = world.servers()
    own = world.own_queues(masters(servers) or "") if masters(servers) else None
    for server in servers:
        row: dict[str, object] = {**common, "namesrvAddr": server.addr, "error": server.error}
        if server.error is None:
            known = None if isinstance(own, str) else own
            back = differing(found.snapshot, known, server)
            wrong = list(back) if state.phase == "undrain" else server.open_topics
            row |= {
                "topicCount": len(server.topics),
                "openTopics": len(server.open_topics),
                "differing": _differs(state.phase, server, wrong),
            }
        yield row


def _differs(phase: str, server: Server, wrong: list[str]) -> str | None:
    if not server.members:
        return "the broker is not registered there"
    if not wrong:
        return None
    return f"{names(wrong)} {'not as before' if phase == 'undrain' else 'open'}"
