"""A broker of the simulation whose queues count their messages, and what each group has read of them."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from namesrv_core.errors import ResponseCode
from namesrv_core.fleet.offsets import OffsetKey
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.fleet.topics import TopicConfigJson
from namesrv_core.protocol import fastjson, object_keys
from namesrv_core.protocol.codes import V5_5_0, RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.simulation.broker import SimulatedBroker
from tests.simulation.world import InvariantBroken

if TYPE_CHECKING:
    from tests.simulation.consumer import Consumer, ConsumerGroup

Queue = tuple[str, int]
"""Topic and queue id."""

_OFFSET_CODES = (
    RequestCode.GET_MAX_OFFSET,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
)
_PUT_TOPIC_CODES = (RequestCode.UPDATE_AND_CREATE_TOPIC, RequestCode.UPDATE_AND_CREATE_TOPIC_LIST)


class QueueTable:
    """The times of stored messages and the offsets of groups, as the fleet's handlers read them.

    `read` is up to where each group has read without a gap.
    """

    def __init__(self) -> None:
        self.stored: dict[Queue, list[int]] = {}
        self.committed: dict[OffsetKey, int] = {}
        self.read: dict[OffsetKey, int] = {}
        self.readers_by_topic: dict[str, tuple[str, ...]] = {}

    def end_of(self, topic: str, queue_id: int) -> int:
        return len(self.stored.get((topic, queue_id), ()))

    def end_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        return [bisect_right(self.stored.get((topic, i), ()), time_ms) for i in range(queue_count)]

    def begin_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        return [0] * queue_count

    def committed_offset(self, offset_key: OffsetKey, queue_count: int, now_ms: int) -> int | None:
        return self.committed.get(offset_key)

    def offset_count(self, group: str, topic: str, queue_count: int) -> int:
        return max([queue_count, *(q + 1 for g, t, q in self.committed if (g, t) == (group, topic))])

    @property
    def moved_groups(self) -> list[str]:
        return [group for group, _, _ in self.committed]

    def resume_group(self, group: str, now_ms: int) -> None:
        """Consumers of a simulated cluster read whatever groups the broker knows."""

    def move_offset(self, offset_key: OffsetKey, offset: int, now_ms: int) -> None:
        self.committed[offset_key] = offset

    def topics_of_group(self, group: str) -> list[str]:
        return sorted({topic for reader, topic, _ in self.committed if reader == group})

    def groups_of_topic(self, topic: str) -> list[str]:
        return sorted({reader for reader, name, _ in self.committed if name == topic})

    def last_stored_ms(self, topic: str, queue_id: int, end_offset: int, now_ms: int) -> int:
        return now_ms if end_offset else 0

    def count_recent_messages(self, topic: str, now_ms: int, window_ms: int) -> int:
        return 0

    def last_consumed_ms(self, offset_key: OffsetKey, queue_count: int, now_ms: int) -> int:
        _, topic, queue_id = offset_key
        offset = self.committed.get(offset_key, 0)
        times: Sequence[int] = self.stored.get((topic, queue_id), ())
        return times[offset - 1] if 0 < offset <= len(times) else 0

    def forget_topic(self, topic: str) -> None:
        """Released brokers delete the offsets, see `QueueBroker.keeps_offsets`."""
        self.committed = {key: offset for key, offset in self.committed.items() if key[1] != topic}

    def stop_group(
        self, group: str, queue_count_of: Callable[[str], int], now_ms: int, *, forget_offsets: bool
    ) -> None:
        if forget_offsets:
            self.committed = {key: offset for key, offset in self.committed.items() if key[0] != group}

    def count_unread(self, group: str, topic: str, first_id: int) -> int:
        """The messages of the queues from `first_id` on that the group has not read."""
        return sum(
            len(times) - self.read.get((group, topic, queue_id), 0)
            for (name, queue_id), times in self.stored.items()
            if name == topic and queue_id >= first_id
        )


class QueueBroker(SimulatedBroker):
    """`groups` are the consumer groups by name; with `keeps_offsets`, a deleted topic leaves its offsets.

    nsadmin must not make unread messages unreadable, nor undo what another operator did after it has seen it.
    `foreign_counts` are the queues by topic that another operator has set, and nsadmin has not changed since.
    """

    groups: "Mapping[str, ConsumerGroup]"
    keeps_offsets: bool

    def prepare_queues(self) -> None:
        self.queues = QueueTable()
        self.model.offsets = self.queues  # type: ignore[assignment]
        self.rejected_sends: list[str] = []
        self._known_counts: dict[str, set[tuple[int, int]]] = {}
        self.foreign_counts: dict[str, tuple[int, int]] = {}
        self._seen_foreign: set[str] = set()
        for topic in self.model.topic_table.configs:
            self._known_counts[topic] = {(0, 0), self._counts_of(topic)}

    def _counts_of(self, topic: str) -> tuple[int, int]:
        config = self.model.topic_table.configs.get(topic)
        return (0, 0) if config is None else (config["readQueueNums"], config["writeQueueNums"])

    # Clients

    def store(self, topic: str, queue_id: int) -> None:
        """Store a message of a producer, or reject it as a released broker does."""
        if queue_id >= max(self._counts_of(topic)):
            self.rejected_sends.append(topic)
            self.world.tell(f"{self.title} rejects a message for queue {queue_id} of {topic}")
            return
        self.put_message(topic)
        self.queues.stored.setdefault((topic, queue_id), []).append(self.world.true_ms)

    def is_readable(self, group: str, topic: str, queue_id: int) -> bool:
        is_known = group in self.model.group_table.configs
        return self.is_up and not self.is_frozen and is_known and queue_id < self._counts_of(topic)[0]

    def read_queue(self, group: str, topic: str, queue_id: int, offset: int, limit: int) -> int:
        """Read up to `limit` messages; return the next offset."""
        key, end = (group, topic, queue_id), self.queues.end_of(topic, queue_id)
        next_offset = min(end, offset + limit)
        known = self.queues.read.get(key, 0)
        if offset <= known:
            self.queues.read[key] = max(known, next_offset)
        return next_offset

    # Requests of nsadmin

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext or {}
        topic = fields.get("topic") or ""
        match request.code:
            case code if code in _OFFSET_CODES:
                return handle_request(self.model, request, self.world.true_ms)[0]
            case RequestCode.GET_TOPIC_CONFIG if topic in self.foreign_counts:
                self._seen_foreign.add(topic)
            case RequestCode.GET_ALL_TOPIC_CONFIG:
                self._seen_foreign.update(self.foreign_counts)
            case RequestCode.QUERY_TOPIC_CONSUME_BY_WHO:
                online = {name for name, group in self.groups.items() if group.reads(self, topic)}
                names = sorted({*online, *self.queues.groups_of_topic(topic)})
                return build_reply(request, body=fastjson.encode_json({"groupList": names}))
            case RequestCode.GET_CONSUMER_CONNECTION_LIST:
                return self._describe_clients(request, fields.get("consumerGroup") or "")
            case RequestCode.GET_CONSUMER_RUNNING_INFO:
                group = self.groups[fields.get("consumerGroup") or ""]
                client = next(c for c in group.clients if c.client_id == fields.get("clientId"))
                return build_reply(request, body=_encode_running_info(client))
            case RequestCode.DELETE_TOPIC_IN_BROKER:
                self._note_put(topic, (0, 0))
                committed = dict(self.queues.committed)
                reply = super().handle(request)
                self._forget_messages(topic)
                if self.keeps_offsets:
                    self.queues.committed = committed
                return reply
            case code if code in _PUT_TOPIC_CODES:
                self._check_put(request)
        return super().handle(request)

    def _check_put(self, request: RemotingCommand) -> None:
        fields = request.ext or {}
        configs: list[Mapping[str, Any]] = [{"topicName": fields.get("topic"), **fields}]
        if request.code == RequestCode.UPDATE_AND_CREATE_TOPIC_LIST:
            configs = fastjson.decode_json(request.body)["topicConfigList"]
        for config in configs:
            self._note_put(config["topicName"], (int(config["readQueueNums"]), int(config["writeQueueNums"])))

    def _note_put(self, topic: str, counts: tuple[int, int]) -> None:
        self._require_unread_stay(topic, counts[0])
        if topic in self._seen_foreign and counts != self.foreign_counts[topic]:
            raise InvariantBroken(
                f"another operator gave {topic} {self.foreign_counts[topic]} queues on {self.title}, and "
                f"nsadmin has read that, and sets {counts}"
            )
        self.foreign_counts.pop(topic, None)
        self._seen_foreign.discard(topic)
        self._known_counts.setdefault(topic, {(0, 0)}).add(counts)

    def _require_unread_stay(self, topic: str, first_id: int) -> None:
        for name, group in self.groups.items():
            unread = self.queues.count_unread(name, topic, first_id)
            if topic in group.topics and unread and not group.is_ignored:
                raise InvariantBroken(
                    f"{unread} messages of {topic} on {self.title} that {name} has not read go away"
                )

    def _forget_messages(self, topic: str) -> None:
        for table in (self.queues.stored, self.queues.read):
            for key in [key for key in table if key[-2] == topic]:
                del table[key]  # type: ignore[arg-type]

    def _describe_clients(self, request: RemotingCommand, name: str) -> RemotingCommand:
        group = self.groups.get(name)
        clients = [] if group is None else [c for c in group.clients if c.is_connected_to(self)]
        if group is None or not clients:
            remark = f"the consumer group[{name}] not online"
            return build_reply(request, ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
        body = {
            "connectionSet": [
                {
                    "clientAddr": "10.0.2.1:40000",
                    "clientId": c.client_id,
                    "language": "JAVA",
                    "version": V5_5_0,
                }
                for c in clients
            ],
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "consumeType": "CONSUME_PASSIVELY",
            "messageModel": "CLUSTERING",
            "subscriptionTable": {topic: _subscription(topic) for topic in group.topics},
        }
        return build_reply(request, body=fastjson.encode_json(body))

    # Changes of topics by others

    def change_topic(self, config: TopicConfigJson) -> None:
        topic = config["topicName"]
        super().change_topic(config)
        self.foreign_counts.pop(topic, None)
        self._seen_foreign.discard(topic)
        if self._counts_of(topic) not in self._known_counts.get(topic, ()):
            self.foreign_counts[topic] = self._counts_of(topic)


def _subscription(topic: str) -> dict[str, object]:
    return {"topic": topic, "subString": "*", "expressionType": "TAG", "tagsSet": [], "codeSet": []}


def _encode_running_info(client: "Consumer") -> bytes:
    queues = object_keys.encode_object_key_map(
        (
            {"brokerName": name, "queueId": queue_id, "topic": topic},
            {"commitOffset": offset, "cachedMsgCount": 0, "droped": False},
        )
        for (name, topic, queue_id), offset in client.held.items()
    )
    rest = {
        "properties": {},
        "statusTable": {},
        "subscriptionSet": [_subscription(t) for t in client.group.topics],
    }
    return b'{"mqPopTable":{},"mqTable":' + queues + b"," + fastjson.encode_json(rest)[1:]
