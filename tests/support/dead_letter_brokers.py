"""A broker with dead letters of the group G, which stores what is sent to it."""

from collections.abc import Callable

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages, parse_properties
from nsadmin import AdminClient
from nsadmin.client.messages.dead_letter_replay import BrokerReplay, ReplayOptions
from nsadmin.client.messages.dead_letter_selection import EVERY_LETTER, DeadLetterSelection
from nsadmin.client.messages.replay_memory import ReplayMemory
from tests.support.fake_servers import Answer, answer_json
from tests.support.message_brokers import MessageBroker

GROUP, DEAD, RETRY = "G", "%DLQ%G", "%RETRY%G"
HALF = "RMQ_SYS_TRANS_HALF_TOPIC"


class DeadLetterBroker(MessageBroker):
    """The next sends get the codes of `refusals` instead of being stored; each first calls `on_send`.

    A message of a transaction goes to HALF, and to its topic at the commit.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[int] = []
        self.on_send: Callable[[], object] = lambda: None
        self.answers_sends = True
        self.handlers[RequestCode.SEND_MESSAGE_V2] = self._store_send
        self.handlers[RequestCode.END_TRANSACTION] = self._end_transaction
        self.ended: list[dict[str, str | None]] = []
        self.handlers[RequestCode.GET_BROKER_RUNTIME_INFO] = lambda asked: answer_json(
            asked, {"table": {"sendThreadPoolQueueSize": "0", "dispatchBehindBytes": "0"}}
        )

    def add_letter(self, text: bytes, origin: str | None = "T", sys_flag: int = 0, **table: str) -> None:
        """One dead letter more, that the group got from this topic."""
        fate = {"DELAY": "0", "ORIGIN_MESSAGE_ID": f"origin of {text.decode(errors='replace')[:20]}"}
        origins = {"RETRY_TOPIC": origin} if origin else {}
        self.store_message(text, DEAD, 0, sys_flag, **fate, **origins, **table)

    def stored_messages(self, topic: str) -> list[StoredMessage]:
        """What was sent to a topic, in the order of its queues."""
        return [
            message
            for (name, _), queue in sorted(self.queues.items())
            if name == topic
            for message in decode_messages(b"".join(queue)).messages
        ]

    def _store_send(self, asked: RemotingCommand) -> Answer:
        self.sent.append(asked)
        self.on_send()
        ext = asked.ext or {}
        if self.refusals:
            return build_reply(asked, self.refusals.pop(0), remark="no")
        topic, queue_id = ext.get("b") or "", int(ext.get("e") or 0)
        properties = parse_properties((ext.get("i") or "").encode())
        if properties.get("TRAN_MSG") == "true":
            properties |= {"REAL_TOPIC": topic, "REAL_QID": str(queue_id)}
            topic, queue_id = HALF, 0
        stored = self.store_message(asked.body, topic, queue_id, int(ext.get("f") or 0), **properties)
        place = {"queueId": str(queue_id), "queueOffset": str(len(self.queues[topic, queue_id]) - 1)}
        place["msgId"] = f"7F0000010000{self.port:04X}{stored[28:36].hex().upper()}"
        return build_reply(asked, ext=place) if self.answers_sends else None

    def _end_transaction(self, asked: RemotingCommand) -> RemotingCommand:
        """As EndTransactionProcessor does it: it looks for the half message by its position."""
        ext = asked.ext or {}
        self.ended.append(dict(ext))
        if self.refusals:
            return build_reply(asked, self.refusals.pop(0), remark="no")
        for message in self.stored_messages(HALF):
            if str(message.physical_offset) == ext["commitLogOffset"]:
                properties = dict(message.properties)
                assert properties.pop("PGROUP") == ext["producerGroup"]
                assert str(message.queue_offset) == ext["tranStateTableOffset"]
                topic, queue_id = properties.pop("REAL_TOPIC"), int(properties.pop("REAL_QID"))
                if ext["commitOrRollback"] == "8":
                    self.store_message(message.body, topic, queue_id, 0, **properties)
                return build_reply(asked)
        return build_reply(asked, 1, remark="Find prepared transaction message failed")


def replay_letters(
    admin: AdminClient,
    selection: DeadLetterSelection = EVERY_LETTER,
    options: ReplayOptions = ReplayOptions(),  # noqa: B008 - it cannot be changed
    memory: ReplayMemory | None = None,
) -> BrokerReplay:
    spans, errors = admin.dead_letters.list_spans(GROUP, selection)
    assert errors == {}
    *_, last = admin.dead_letters.replay(GROUP, spans, selection, options, memory)
    return last


def list_bodies(graves: DeadLetterBroker, topic: str = RETRY) -> list[str]:
    return sorted(message.body.decode() for message in graves.stored_messages(topic))
