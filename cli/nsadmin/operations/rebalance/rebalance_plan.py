"""Rebalance plans: their records, and the YAML file that a person reads, edits and reviews."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from zipfile import is_zipfile

from namesrv_core import operator_files
from namesrv_core.printable_text import escape_unsafe
from nsadmin.client import private_file
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, PlanDocument
from nsadmin.operations.plans.yaml_writer import InlineMap, dump_yaml
from nsadmin.operations.rebalance.plan_fields import PLAN_FIELDS, PLAN_FORMAT

_HEAD_LINES = (
    "Rebalance plan of nsadmin: check and edit it, then run it with `nsadmin rebalance run FILE`.",
    "before must be the current state. A topic is deleted from brokers that are not under after.",
    "Delete a topic's entry to leave that topic as it is.",
)


class QueuePair(NamedTuple):
    """The numbers of read and write queues of a topic on one broker."""

    read: int
    write: int


NO_QUEUES = QueuePair(0, 0)


class RebalanceMove(NamedTuple):
    """The change of one topic: its queues by broker before and after.

    A broker that is only in `before` loses the topic. A broker that is only in `after` gets it, with `perm`
    and with the other settings of a broker that has it. `order_conf` is the new order configuration, None if
    the topic has none. `messages_to_consume` counts the messages in the removed read queues.
    """

    topic: str
    ordered: bool
    before: Mapping[str, QueuePair]
    after: Mapping[str, QueuePair]
    perm: int = 6
    order_conf: str | None = None
    messages_to_consume: int = 0

    @property
    def is_ordered(self) -> bool:
        """Whether the sequence of keys matters."""
        return self.ordered or self.order_conf is not None

    @property
    def changed_brokers(self) -> tuple[str, ...]:
        """The brokers whose queues change, sorted."""
        return tuple(
            broker_name
            for broker_name in sorted({*self.before, *self.after})
            if self.before.get(broker_name) != self.after.get(broker_name)
        )


class LoadShares(NamedTuple):
    """The shares of one broker in percent: messages sent, messages received, bytes sent, write queues."""

    writes: float
    reads: float
    disk: float
    queues: float


class BrokerShares(NamedTuple):
    """The shares of one broker before and after the plan."""

    before: LoadShares
    after: LoadShares


class RebalancePlan(NamedTuple):
    """A rebalance plan.

    `goal` is "load", "queues" or "disk". `created` is a UTC time such as 2026-11-24T13:30:00Z. `source` says
    where the load was measured. `moves` are in the order in which they should run. `groups_to_create` are the
    missing groups by broker.
    """

    cluster: str
    created: str
    goal: str
    source: str
    moves: tuple[RebalanceMove, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    groups_to_create: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    shares: Mapping[str, BrokerShares] = MappingProxyType({})
    risks: tuple[str, ...] = ()
    version: int = PLAN_FORMAT

    @property
    def digest(self) -> str:
        """12 hex digits that identify the changes of the plan, in any order, without figures and risks."""
        content = [self.cluster, sorted(self.moves), sorted(self.groups_to_create.items())]
        canonical_text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical_text.encode()).hexdigest()[:12]

    @property
    def messages_to_consume(self) -> int:
        """The messages in all read queues that the plan removes, when it was made."""
        return sum(move.messages_to_consume for move in self.moves)


def load_rebalance_plan(path: Path) -> RebalancePlan:
    """Read a plan file.

    Raises:
        OSError: the file cannot be read.
        InvalidPlanFileError: with all problems of the file, each with its line.
    """
    try:
        file_text = operator_files.read_text(str(path))
    except UnicodeDecodeError:
        kind = "a ZIP file, such as a backup or a bundle" if is_zipfile(path) else "not a text file"
        raise InvalidPlanFileError(
            [f"{path} is {kind}: make a plan with nsadmin rebalance plan --out FILE"]
        ) from None
    return parse_rebalance_plan(file_text, str(path))


def save_rebalance_plan(plan: RebalancePlan, path: Path) -> None:
    """Replace the file. Only its owner can read it.

    Raises:
        OSError: the file cannot be written.
    """
    private_file.replace_private_file(str(path), format_rebalance_plan(plan))


def parse_rebalance_plan(file_text: str, file_name: str) -> RebalancePlan:
    """The plan in a file's text; `file_name` is for messages.

    Raises:
        InvalidPlanFileError: with all problems of the file, each with its line.
    """
    document = PlanDocument(file_text, file_name)
    if document.value is None:
        raise InvalidPlanFileError([f"{file_name}:1: the file is empty: make the plan again"])
    if isinstance(document.value, dict) and "rebalancePlan" not in document.value:
        is_cluster = "cluster" in document.value
        kind = "a cluster file, which is for nsadmin apply" if is_cluster else "another YAML file"
        raise InvalidPlanFileError(
            [f"{file_name}:1: this is {kind}: make a plan with nsadmin rebalance plan --out FILE"]
        )
    plan = _build_plan(PLAN_FIELDS.default_values | document.read(PLAN_FIELDS))
    document.require_none(_find_contradictions(plan))
    return plan


def format_rebalance_plan(plan: RebalancePlan) -> str:
    """The text of the plan file. The same plan always gives the same text."""
    file_content = {
        "rebalancePlan": plan.version,
        "cluster": plan.cluster,
        "created": plan.created,
        "goal": plan.goal,
        "source": plan.source,
        "add": list(plan.added),
        "remove": list(plan.removed),
        "risks": list(plan.risks),
        "shares": {
            broker_name: {
                "before": InlineMap(broker_shares.before._asdict()),
                "after": InlineMap(broker_shares.after._asdict()),
            }
            for broker_name, broker_shares in sorted(plan.shares.items())
        },
        "groupsToCreate": {
            broker_name: list(groups) for broker_name, groups in sorted(plan.groups_to_create.items())
        },
        "topics": {move.topic: _move_fields(move) for move in plan.moves},
    }
    head_lines = "".join(f"# {escape_unsafe(head_line)}\n" for head_line in _HEAD_LINES)
    return f"{head_lines}{dump_yaml(file_content)}"


def _move_fields(move: RebalanceMove) -> dict[str, Any]:
    optional_fields = {
        "ordered": move.ordered or None,
        "perm": None if move.perm == 6 else move.perm,
        "orderConf": move.order_conf,
        "messagesToConsume": move.messages_to_consume or None,
    }
    return {
        **{key: value for key, value in optional_fields.items() if value is not None},
        "before": _queue_fields(move.before),
        "after": _queue_fields(move.after),
    }


def _queue_fields(queues_by_broker: Mapping[str, QueuePair]) -> dict[str, InlineMap]:
    return {
        broker_name: InlineMap(queue_counts._asdict())
        for broker_name, queue_counts in sorted(queues_by_broker.items())
    }


def _build_plan(file_fields: Mapping[str, Any]) -> RebalancePlan:
    return RebalancePlan(
        cluster=file_fields["cluster"],
        created=file_fields["created"],
        goal=file_fields["goal"],
        source=file_fields["source"],
        moves=tuple(_build_move(topic, move_fields) for topic, move_fields in file_fields["topics"].items()),
        added=tuple(file_fields["add"]),
        removed=tuple(file_fields["remove"]),
        groups_to_create=file_fields["groupsToCreate"],
        shares={
            broker_name: BrokerShares(LoadShares(**shares["before"]), LoadShares(**shares["after"]))
            for broker_name, shares in file_fields["shares"].items()
        },
        risks=tuple(file_fields["risks"]),
        version=file_fields["rebalancePlan"],
    )


def _build_move(topic: str, move_fields: Mapping[str, Any]) -> RebalanceMove:
    return RebalanceMove(
        topic,
        move_fields.get("ordered", False),
        {broker_name: QueuePair(**counts) for broker_name, counts in move_fields["before"].items()},
        {broker_name: QueuePair(**counts) for broker_name, counts in move_fields["after"].items()},
        move_fields.get("perm", 6),
        move_fields.get("orderConf"),
        move_fields.get("messagesToConsume", 0),
    )


def _find_contradictions(plan: RebalancePlan) -> Iterator[tuple[tuple[str, ...], str]]:
    """The path and the text of each problem that single values do not show."""
    for broker_name in sorted({*plan.added} & {*plan.removed}):
        yield ("remove",), f'broker "{broker_name}" is under add and remove: delete one of them'
    for move in plan.moves:
        for broker_name, counts in sorted(move.after.items()):
            key_path = ("topics", move.topic, "after", broker_name)
            dotted_path = ".".join(key_path)
            if counts.write > counts.read:
                yield (
                    key_path,
                    f"{dotted_path}: write must not be greater than read: consumers would miss messages",
                )
            if broker_name in plan.removed:
                yield key_path, f"{dotted_path}: the broker is under remove: delete this line"
        if not any(counts.write for counts in move.after.values()):
            yield (
                ("topics", move.topic, "after"),
                f"topics.{move.topic}.after: no broker has a write queue: keep at least one",
            )
