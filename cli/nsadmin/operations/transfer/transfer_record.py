"""The record of a transfer, which name servers of the target keep in the KV config.

It has what the target queues do not show: where the transfer began, and how far empty parts were read.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from namesrv_core import operator_files
from namesrv_core.errors import QueryNotFound, RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied
from nsadmin.operations.copy_source import SourceQueue
from nsadmin.operations.transfer.message_rules import SavedRules
from nsadmin.operations.transfer.queue_map import QueueId

RECORD_NAMESPACE = "NSADMIN_TRANSFER"


class QueueRecord(NamedTuple):
    """What was known of one source queue when the record was saved.

    Attributes:
        target: The queue of the target topic.
        begin_offset: The first source offset of the transfer.
        next_offset: The first source offset that was not copied yet.
        target_begin: The end of the target queue when the transfer began.
        target_end: The target offset after the last copy.
        lost_count: The messages that the source deleted before they were copied.
    """

    target: QueueId
    begin_offset: int
    next_offset: int
    target_begin: int
    target_end: int
    lost_count: int = 0


class TransferRecord(NamedTuple):
    """The record of one source topic and one target topic, and the run that writes it.

    A run with other rules for the selection of messages is another transfer.
    """

    run_id: str
    rules: SavedRules
    queues: Mapping[QueueId, QueueRecord]


class _SavedRecord(msgspec.Struct):
    run: str
    rules: dict[str, tuple[str, ...]]
    queues: dict[str, tuple[str, int, int, int, int, int]]


def record_key(cluster: str, topic: str, target_topic: str) -> str:
    """Return the key of a record."""
    return f"{cluster}/{topic}/{target_topic}"


def parse_record_key(key: str) -> tuple[str, str, str]:
    """Return the cluster, the topic and the target topic of a key. Names of topics have no slash."""
    names, _, target_topic = key.rpartition("/")
    cluster, _, topic = names.rpartition("/")
    return cluster, topic, target_topic


class TransferStore:
    """Reads and writes the record of one transfer, through a client of the target."""

    def __init__(self, admin: AdminClient, key: str) -> None:
        self._admin, self.key = admin, key

    def load(self) -> TransferRecord | None:
        """Return the record that is furthest on all name servers; None if there is none.

        Raises NotApplied for a record that is not readable, and RocketMQError if a name server does not
        answer and no other one has a record.
        """
        results = self._admin.kv.get_value_each(RECORD_NAMESPACE, self.key)
        records = [self._parse(result.result) for result in results if result.result is not None]
        errors = [result.error for result in results if not isinstance(result.error, QueryNotFound)]
        if not records and any(errors):
            raise next(filter(None, errors))
        return max(
            records,
            key=lambda record: sum(queue.next_offset for queue in record.queues.values()),
            default=None,
        )

    def save(self, record: TransferRecord) -> RocketMQError | None:
        """Write the record on every name server; return the first error."""
        results = self._admin.kv.put_value(RECORD_NAMESPACE, self.key, _encode(record))
        return next((result.error for result in results if result.error is not None), None)

    def _parse(self, text: str) -> TransferRecord:
        try:
            saved = msgspec.convert(operator_files.parse_json(text), _SavedRecord)
            return TransferRecord(
                saved.run,
                saved.rules,
                {
                    _parse_queue(queue): QueueRecord(_parse_queue(target), *numbers)
                    for queue, (target, *numbers) in saved.queues.items()
                },
            )
        except ValueError:
            command = quote_command("deleteKvConfig", RECORD_NAMESPACE, self.key)
            raise NotApplied(
                f'the record "{self.key}" in the namespace {RECORD_NAMESPACE} of the target is unreadable: '
                f"to begin again, delete it there: `{command}`"
            ) from None


def make_source_queue(cluster: str, topic: str, queue: QueueId) -> SourceQueue:
    """Return the source queue as copies name it."""
    return SourceQueue(cluster, queue.broker_name, topic, queue.queue_id)


def _encode(record: TransferRecord) -> str:
    return json.dumps(
        {
            "run": record.run_id,
            "rules": dict(record.rules),
            "queues": {
                str(queue): [str(queue_record.target), *queue_record[1:]]
                for queue, queue_record in record.queues.items()
            },
        },
        separators=(",", ":"),
    )


def _parse_queue(queue_text: str) -> QueueId:
    broker, _, id_text = queue_text.rpartition("/")
    return QueueId(broker, int(id_text))
