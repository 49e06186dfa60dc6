"""rollingRestart: restarts the brokers of a cluster one by one, and drains each master before its stop."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated

from nsadmin import audit
from nsadmin.client.clusters import BrokerGroup
from nsadmin.commands import drains
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.stopping import Stopped, stopping
from nsadmin.commands.telling import Teller
from nsadmin.commands.values import duration
from nsadmin.diagnostics import Interrupted, UsageError
from nsadmin.operations import shell
from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import Record
from nsadmin.operations.drain.keeping import Keeping, folder_of, home
from nsadmin.operations.drain.looking import Cluster
from nsadmin.operations.drain.running import Clock, Plan
from nsadmin.operations.restart.events import words
from nsadmin.operations.restart.keeping import Progress
from nsadmin.operations.restart.running import Broker, Restart, Rules
from nsadmin.operations.restart.state import Process, ordered
from nsadmin.output import Row, Rows, Text
from nsadmin.session import Session

COLUMNS = ("brokerName", "brokerId", "brokerAddr", "steps", "openTopics", "result")

_FIELDS = ("brokerName", "brokerAddr", "brokerId")


@shows(COLUMNS)
def rolling_restart(
    session: Session,
    cluster: Annotated[str, Word(("-c", "--clusterName"), "CLUSTER", "Name of the cluster.")],
    stop: Annotated[
        str | None,
        Option(
            "--stop",
            metavar="COMMAND",
            help="What the shell runs to stop one; {brokerName}, {brokerAddr}, {brokerId} are filled in.",
        ),
    ] = None,
    start: Annotated[
        str | None, Option("--start", metavar="COMMAND", help="What the shell runs to start it, likewise.")
    ] = None,
    pause_after: Annotated[
        int | None,
        Option(
            "--pause-after", metavar="N", help="End after so many groups; the next start goes on.", minimum=1
        ),
    ] = None,
    patience: Annotated[
        str,
        Option(
            "--patience",
            metavar="TIME",
            help="How long a broker may take until it is healthy again; 10m if left out.",
        ),
    ] = "10m",
    durable: Annotated[
        bool,
        Option(
            "--durable",
            help="Drain through brokerPermission: closed until slaves are in sync, not only down.",
        ),
    ] = False,
    force: Annotated[bool, Option("--force", help="Although topics are on one broker alone.")] = False,
    allow_unreachable: drains.AllowUnreachable = False,
    threshold: drains.Threshold = 0,
    settle: drains.Settle = "30s",
    interval: drains.Interval = "10s",
    intervals: drains.Intervals = 3,
) -> Rows | Iterator[Text]:
    """Restart all brokers of a cluster, one after another: slaves, their master, the next group.

    A master is drained, stopped, started, waited for and undrained, as drain and undrain do it; a slave is
    stopped, started and waited for. It is waited until every name server knows the broker, the broker says
    that it was started anew, and slaves have what their master has. Nothing is stopped while the one before,
    or the one that is next, is not healthy.

    Ctrl-C ends it between two steps, --pause-after between two groups; started again, it goes on where it
    was. The commands may then be run a second time, so they should not mind: systemctl does not.

    Examples:
        # Which brokers, in which order, and what would be done
        nsadmin rollingRestart -c cluster-a --dry-run
    """
    groups = [group for group in session.admin.clusters.info().in_cluster(cluster) if group.broker_addrs]
    rules = Rules(round(duration("rollingRestart", "--patience", patience, 1, 86400) * 1000), pause_after)
    drain_rules = drains.rules("rollingRestart", settle, intervals, threshold)
    pace = drains.pace("rollingRestart", interval)
    members = {group.broker_name: group.broker_addrs for group in groups}
    if session.dry_run:
        return _planned(session, cluster, members)
    commands = {"stop": _command("--stop", stop), "start": _command("--start", start)}
    session.confirm(f"Restart {', '.join(members)} of {cluster}, one after another?")

    @cache
    def broker(name: str) -> Broker:
        plan = Plan(name, drain_rules, pace, durable, force, allow_unreachable, by=audit.user())
        world = Cluster(session.admin, name)
        keeping = Keeping(folder_of(home(), cluster, name), name)
        master = _master(groups, name)
        in_order = world.ordered(master) if durable else frozenset[str]()
        return Broker(world, keeping, plan, world.system_topics(master), in_order)

    def run(step: str, process: Process) -> int:
        fields = dict(zip(_FIELDS, (process.broker, process.addr, str(process.broker_id)), strict=True))
        return shell.run(shell.filled(commands[step], fields))

    def begin(clock: Clock) -> Iterator[Record]:
        progress = Progress(home(), cluster)
        return Restart(cluster, rules, broker, run, progress, clock, min(pace, 2.0)).run(members)

    return _told(session, cluster, begin)


def _master(groups: list[BrokerGroup], name: str) -> str:
    return next((group.master or "" for group in groups if group.broker_name == name), "")


def _command(option: str, text: str | None) -> str:
    if not text:
        raise UsageError(f"rollingRestart: {option} is missing: what the shell is to run, such as 'ssh …'")
    wrong = shell.unknown_fields(text, dict.fromkeys(_FIELDS, ""))
    if wrong:
        known = ", ".join(f"{{{name}}}" for name in _FIELDS)
        raise UsageError(f"rollingRestart: {option}: nobody knows {{{wrong[0]}}}; there are {known}")
    return text


def _planned(session: Session, cluster: str, members: Mapping[str, Mapping[int, str]]) -> Rows:
    kept = Progress(home(), cluster).load()
    processes = ordered(members) if kept is None else kept.processes[kept.at :]
    worlds = {process.broker: Cluster(session.admin, process.broker) for process in processes}
    opened = {
        name: max((len(server.open_topics) for server in world.servers()), default=0)
        for name, world in worlds.items()
    }
    rows: list[Row] = [
        {
            "brokerName": process.broker,
            "brokerId": process.broker_id,
            "brokerAddr": process.addr,
            "steps": process.steps,
            "openTopics": opened[process.broker] if process.is_master else None,
            "result": "dry-run",
        }
        for process in processes
    ]
    return Rows(COLUMNS, rows)


def _told(session: Session, cluster: str, begin: Callable[[Clock], Iterator[Record]]) -> Iterator[Text]:
    tell = Teller(session, "rollingRestart", lambda item: words(item) or events.words(item))
    with stopping(drains.CLOCK) as stop, tell:
        try:
            for item in begin(stop.clock):
                yield tell(item)
                stop.check()
        except Stopped:
            raise Interrupted(
                f"interrupted; how far it has come is kept: the same command goes on with {cluster}"
            ) from None
