"""Owns updateTopic and updateTopicPerm, which change only the named settings of a topic on brokers."""

from collections.abc import Sequence
from typing import Annotated, Any

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import perm_text
from nsadmin.client.results import ServerResult
from nsadmin.client.targets import Target
from nsadmin.client.topic_configs import TopicChange, TopicConfig, TopicPatch
from nsadmin.commands import values
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    MasterOption,
    MastersOption,
    addrs,
    masters_at,
    matched,
)
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("target", "role", "brokerName", "topic", *CHANGE)
IN_TABLE = ("target", "role", "brokerName", "topic", *CHANGE_IN_TABLE)

Topic = Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")]


@shows(COLUMNS)
def update_topic(
    session: Session,
    topic: Topic,
    broker: MasterOption = None,
    cluster: MastersOption = None,
    read_queue_nums: Annotated[
        int | None, Option("-r", "--readQueueNums", metavar="NUMBER", help="Queues to read from.")
    ] = None,
    write_queue_nums: Annotated[
        int | None, Option("-w", "--writeQueueNums", metavar="NUMBER", help="Queues to write to.")
    ] = None,
    perm: Annotated[
        int | None, Option("-p", "--perm", metavar="2|4|6", help="6 read and write, 4 read, 2 write.")
    ] = None,
    order: Annotated[
        str | None,
        Option("-o", "--order", metavar="true|false", help="true also writes its order configuration."),
    ] = None,
    unit: Annotated[
        str | None, Option("-u", "--unit", metavar="true|false", help="Whether it belongs to a unit.")
    ] = None,
    has_unit_sub: Annotated[
        str | None,
        Option("-s", "--hasUnitSub", metavar="true|false", help="Whether units subscribe to it."),
    ] = None,
    attributes: Annotated[
        str | None,
        Option("-a", "--attributes", metavar="LIST", help="As in +message.type=FIFO,-other; 5.0 and later."),
    ] = None,
) -> Rows:
    """Create a topic, or change one: what is not named stays as each broker has it.

    A broker that has no such topic creates it, with 8 queues and the permission rw- (6) unless told
    otherwise. Each master is read before and after, and a row says what changed there. With -o true each
    name server gets an entry for these brokers in the topic's order configuration; -o false leaves that
    alone, see updateOrderConf.

    Examples:
        # Create a topic with 4 queues on every master of a cluster
        nsadmin updateTopic vouchers -c cluster-a -r 4 -w 4 --yes
        # What would change on one master
        nsadmin updateTopic payments -b 127.0.0.1:10911 -w 32 -r 32 --dry-run
        # Make a topic ordered, with its order configuration
        nsadmin updateTopic orders -c cluster-a -o true --yes
    """
    command = "updateTopic"
    values.topic_name(command, topic)
    patch = TopicPatch(
        values.queue_number(command, "-r", read_queue_nums),
        values.queue_number(command, "-w", write_queue_nums),
        values.perm(command, perm),
        values.flag(command, "-o", order),
        values.flag(command, "-u", unit),
        values.flag(command, "-s", has_unit_sub),
        attributes,
    )
    targets = masters_at(session, command, broker, cluster)
    rows = _carried_out(session, targets, topic, patch, create=True)
    return _with_order_conf(session, rows, topic) if patch.order else rows


@shows(COLUMNS)
def update_topic_perm(
    session: Session,
    topic: Topic,
    perm: Annotated[
        str, Word(("-p", "--perm"), "PERM", "6 read and write, 4 read, 2 write.", values="2|4|6")
    ],
    broker: MasterOption = None,
    cluster: MastersOption = None,
) -> Rows:
    """Change the permission of a topic on one master, or on every master of a cluster.

    Its queues and whether it is ordered stay as each broker has them. A broker of the cluster that has no
    such topic says "not found", which is an error only if none of them has it.

    Examples:
        # Nobody can write to a topic any more, in one cluster
        nsadmin updateTopicPerm payments 4 -c cluster-a --yes
        # What would change on one master
        nsadmin updateTopicPerm payments 4 -b 127.0.0.1:10911 --dry-run
    """
    patch = TopicPatch(perm=values.perm_word("updateTopicPerm", perm))
    targets = masters_at(session, "updateTopicPerm", broker, cluster)
    rows = _carried_out(session, targets, topic, patch, create=False)
    if None in rows.errors:
        rows = rows._replace(errors=[None if _has_none(error) else error for error in rows.errors])
    return rows


def _has_none(error: object) -> bool:
    return isinstance(error, TopicNotExist)


def _carried_out(
    session: Session, targets: Sequence[Target], topic: str, patch: TopicPatch, *, create: bool
) -> Rows:
    """Plan the change, ask with the plan in the question, apply it; return a row for each broker."""
    configs = session.admin.topic_configs
    plans = configs.plan(addrs(targets), topic, patch, create=create)
    due = [plan for plan in plans if plan.is_change]
    for text in dict.fromkeys(_changes(plan) for plan in due):
        where = ", ".join(plan.broker_addr for plan in due if _changes(plan) == text)
        session.confirm(f"{topic}: {text}, on {where}?")
    done = plans if session.dry_run else configs.apply(plans, patch)
    results = matched(targets, [ServerResult(change.broker_addr, change, change.error) for change in done])
    rows = [_row(session, topic, *pair) for pair in zip(targets, results, strict=True)]
    errors = [result.error for result in results]
    return Rows(COLUMNS, rows, errors, _notes(topic, due, errors), IN_TABLE)


def _row(session: Session, topic: str, target: Target, result: ServerResult[TopicChange]) -> Row:
    change = result.result
    word = "unchanged" if change and not change.is_change else "dry-run" if session.dry_run else "done"
    return {
        "target": target.broker_addr,
        "role": "master",
        "brokerName": target.broker_name or (change and change.broker_name),
        "topic": topic,
        "changes": None if change is None or not change.is_change else _changes(change),
        "before": None if change is None else _wire(change.before),
        "after": None if change is None or change.error else _wire(change.after),
        **outcome(result.error, word),
    }


def _with_order_conf(session: Session, rows: Rows, topic: str) -> Rows:
    """Write the brokers' entries to the order configuration, and add a row for each name server."""
    queues = {
        str(row["brokerName"]): after["writeQueueNums"]
        for row in rows.rows
        if isinstance(after := row.get("after"), dict)
    }
    if not queues:
        return rows
    confs = session.admin.order_confs
    before = {addr: {"orderConf": conf} for addr, conf, _ in confs.each(topic) if conf is not None}
    conf = confs.merged(topic, queues)
    if session.dry_run:
        found = [ServerResult(addr, conf, None) for addr in session.admin.addresses.addrs]
    else:
        found = confs.put(topic, conf)
    more: list[Row] = [
        {
            "target": addr,
            "role": "nameserver",
            "topic": topic,
            **({} if error else change(before.get(addr), {"orderConf": conf})),
            **outcome(error, "dry-run" if session.dry_run else "done"),
        }
        for addr, _, error in found
    ]
    errors = [*rows.errors, *(result.error for result in found)]
    return rows._replace(rows=[*rows.rows, *more], errors=errors)


def _changes(change: TopicChange) -> str:
    """The changes as text: "perm rw- -> r--", or the main settings of a new topic."""
    before, after = _wire(change.before), _wire(change.after) or {}
    if before is None:
        named = (f"{name} {_word(name, after[name])}" for name in ("readQueueNums", "writeQueueNums", "perm"))
        more = [f"order {_word('order', True)}"] if after.get("order") else []
        if after.get("attributes"):
            more.append(f"attributes {_word('attributes', after['attributes'])}")
        return "new: " + ", ".join([*named, *more])
    return ", ".join(
        f"{name} {_word(name, before[name])} -> {_word(name, value)}"
        for name, value in after.items()
        if before[name] != value
    )


def _word(name: str, value: Any) -> str:
    if name == "perm":
        return perm_text(value)
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items()) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wire(config: TopicConfig | None) -> dict[str, Any] | None:
    """The config as a dict with the field names of the protocol."""
    if config is None:
        return None
    return {
        "readQueueNums": config.read_queue_nums,
        "writeQueueNums": config.write_queue_nums,
        "perm": config.perm,
        "order": config.order,
        "topicSysFlag": config.topic_sys_flag,
        "topicFilterType": config.topic_filter_type,
        "attributes": dict(config.attributes),
    }


def _notes(topic: str, due: Sequence[TopicChange], errors: Sequence[RocketMQError | None]) -> list[str]:
    """A line for each broker where the change makes queues unreadable; then the number of failures."""
    notes: list[str] = []
    for addr, _, before, after, _ in due:
        if after is None or (before is not None and after[1:3] == before[1:3]):
            continue
        read, written = after.read_queue_nums, after.write_queue_nums
        if read < max(written, before.read_queue_nums if before else 0):
            notes.append(f"{addr}: messages of {topic} in queues from {read} on cannot be read")
    failures = sum(error is not None for error in errors)
    if notes and failures:
        notes.append(f"failed on {failures} of {len(errors)} servers")
    return notes
