"""updateTopicList, updateSubGroupList: create or change many topics or groups from a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from nsadmin.client.results import NotApplied
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.planned import COLUMNS, failed, rows, warnings
from nsadmin.commands.targets import MasterOption, MastersOption, masters_at
from nsadmin.diagnostics import UsageError
from nsadmin.operations.plans.carrying import Outcome, carry_out
from nsadmin.operations.plans.difference import Trouble
from nsadmin.operations.plans.lists import Listed, read_list, steps
from nsadmin.operations.plans.observing import observe, observe_brokers
from nsadmin.operations.plans.reading import BadFile
from nsadmin.operations.plans.records import Live
from nsadmin.operations.plans.settings import SpreadKind
from nsadmin.operations.plans.stranding import stranded
from nsadmin.output import Row, Rows
from nsadmin.session import Session

File = Annotated[str, Word(("-f", "--filename"), "FILE", "A list of them, as JSON, or a file of export.")]
_PROBLEMS = 10


@shows(COLUMNS)
def update_topic_list(
    session: Session, file: File, broker: MasterOption = None, cluster: MastersOption = None
) -> Rows:
    """Create or change the topics of a file on one master, or on every master of a cluster.

    The file is as mqadmin takes it, a JSON array of topic configs; or what exportMetadata wrote; or the YAML
    of export, of which the topics count. In the JSON files what is not named stays as each broker has it (a
    new topic has 16 queues then), and attributes may have their + or not. Each master is read before and
    after. A topic that is in that way already is not sent, as brokers then do nothing of the whole list; it
    is shown as unchanged, and topics that cannot be changed as skipped.

    Examples:
        # What would change on each master
        nsadmin updateTopicList topics.json -c cluster-a --dry-run
        # On one master
        nsadmin updateTopicList -f topics.json -b 127.0.0.1:10911 --yes
    """
    return _update(session, "updateTopicList", "topic", file, broker, cluster)


@shows(COLUMNS)
def update_sub_group_list(
    session: Session, file: File, broker: MasterOption = None, cluster: MastersOption = None
) -> Rows:
    """Create or change the consumer groups of a file on one master, or on every master of a cluster.

    The file is as mqadmin takes it, a JSON array of group configs; or what exportMetadata wrote; or the YAML
    of export, of which the groups count. In the JSON files what is not named stays as each broker has it, a
    new group may broadcast and begins at the oldest message unless told otherwise, and attributes may have
    their + or not. Each master is read before and after; a group that is in that way
    already is not sent and is shown as unchanged.

    Examples:
        # What would change on each master
        nsadmin updateSubGroupList groups.json -c cluster-a --dry-run
        # On one master
        nsadmin updateSubGroupList -f groups.json -b 127.0.0.1:10911 --yes
    """
    return _update(session, "updateSubGroupList", "group", file, broker, cluster)


def _update(
    session: Session, command: str, kind: SpreadKind, file: str, broker: str | None, cluster: str | None
) -> Rows:
    places = masters_at(session, command, broker, cluster)
    listed = _listed(command, kind, file)
    if cluster is not None:
        live = observe(session.admin, cluster)
    else:
        live = _alone(session, places[0].broker_addr or "")
    found = steps(listed, live)
    due = [outcome.step for outcome in found if outcome.result == "planned"]
    left = [outcome for outcome in found if outcome.result != "planned"]
    troubles = [Trouble(item.name, item.error) for item in live.brokers if item.error is not None]
    lost = stranded(session.admin, live, due)
    notes = [*warnings(lost), *_remarks(listed), _summary(kind, due, left)]
    if session.dry_run or not due:
        outcomes = [Outcome(step, "dry-run", None) for step in due]
    else:
        for line in notes[:-1]:
            session.remark(line)
        session.confirm(f"{', '.join(item.addr or item.name for item in live.brokers)}: {notes[-1]}; go on?")
        with session.counting(command, len(due)) as advance:
            outcomes = carry_out(session.admin, live, due, advance)
        failures = failed(outcome.error for outcome in outcomes)
        notes = [notes[-1], *([f"failed in {failures} of {len(outcomes)} steps"] if failures else [])]
    shown = rows([*outcomes, *left], troubles, lost, notes)
    errors = shown.errors if found else [item.error for item in live.brokers]
    return shown._replace(rows=[_without_action(row) for row in shown.rows], errors=errors)


def _listed(command: str, kind: SpreadKind, file: str) -> Listed:
    try:
        return read_list(kind, Path(file).read_text(encoding="utf-8"), file)
    except OSError as error:
        raise UsageError(f"{command}: {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{command}: {file} is no text in UTF-8") from None
    except BadFile as error:
        told = UsageError(f"{command}: {error.problems[0]}")
        for line in error.problems[1:_PROBLEMS]:
            told.add_note(line)
        raise told from None


def _alone(session: Session, addr: str) -> Live:
    """Observe one master by its address, without a name server; NotApplied if it is a slave."""
    [config] = session.admin.broker_configs.each([addr])
    if config.error is not None:
        raise config.error
    items = config.result or {}
    if items.get("brokerRole") == "SLAVE":
        raise NotApplied(f"{addr} is a slave: change its master, whose tables it copies")
    cluster, name = items.get("brokerClusterName", ""), items.get("brokerName", addr)
    return Live(cluster, observe_brokers(session.admin, {name: addr}, cluster), ())


def _remarks(listed: Listed) -> list[str]:
    if not listed.is_sum:
        return []
    return ["this file is of a whole cluster: mqadmin has added up the queues of a topic's brokers"]


def _summary(kind: SpreadKind, due: Sequence[object], left: Sequence[Outcome]) -> str:
    counts = {word: sum(item.result == word for item in left) for word in ("unchanged", "skipped")}
    words = [f"{len(due)} to send", *(f"{number} {word}" for word, number in counts.items() if number)]
    return f"{kind}s, each broker counted: {', '.join(words)}"


def _without_action(row: Row) -> Row:
    return {**row, "action": None} if row["result"] in ("unchanged", "skipped") else row
