"""A broker with messages: answers what asks for them, the way a released one does."""

from collections.abc import Mapping
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import FakeBroker, answer_json
from tests.support.messages import encode_message

CREATED = 1_700_000_000_000
"""When the first message of each queue was stored; the others follow, a second between two."""


class GroupReader(NamedTuple):
    """A consumer group of the topic: who of it is connected, and the offset that it has in every queue."""

    clients: tuple[str, ...] = ()
    offset: int | None = None
    sub_string: str = "*"
    consume_type: str = "CONSUME_PASSIVELY"
    message_model: str = "CLUSTERING"
    expression_type: str = "TAG"


class MessageBroker(FakeBroker):
    """`queues` is (topic, queue id) to records; a page has `page` of them. `oldest` are no longer there.

    `readers` are its consumer groups; a message that is handed to a client ends in `verdict`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queues: dict[tuple[str, int], list[bytes]] = {}
        self.oldest = 0
        self.page = 32
        self.sent: list[RemotingCommand] = []
        self.readers: dict[str, GroupReader] = {}
        self.verdict: dict[str, object] = {"consumeResult": "CR_SUCCESS", "spentTimeMills": 29}
        self.handlers |= {
            RequestCode.QUERY_MESSAGE: self._query,
            RequestCode.VIEW_MESSAGE_BY_ID: self._view,
            RequestCode.PULL_MESSAGE: self._pull,
            RequestCode.GET_MIN_OFFSET: lambda asked: answer_offset(asked, self.oldest),
            RequestCode.GET_MAX_OFFSET: lambda asked: answer_offset(asked, len(self._queue(asked))),
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: self._search,
            RequestCode.SEND_MESSAGE_V2: self._send,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: lambda asked: answer_json(
                asked, {"groupList": list(self.readers)}
            ),
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self._connections,
            RequestCode.QUERY_CONSUMER_OFFSET: self._committed,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: lambda asked: answer_json(asked, self.verdict),
        }

    def store_message(
        self, body: bytes = b"hello", topic: str = "T", queue_id: int = 0, sys_flag: int = 0, **table: str
    ) -> bytes:
        """One message more; its position in the commit log is 1000 times their number."""
        queue = self.queues.setdefault((topic, queue_id), [])
        queue.append(
            encode_message(
                body,
                topic,
                table=table,
                queue_id=queue_id,
                queue_offset=len(queue),
                physical=1000 * sum(map(len, self.queues.values())),
                sys_flag=sys_flag,
                stored=CREATED + 1000 * len(queue),
                store_port=self.port,
            )
        )
        return queue[-1]

    def _queue(self, asked: RemotingCommand) -> list[bytes]:
        ext = asked.ext or {}
        return self.queues.get((ext.get("topic") or "", int(ext.get("queueId") or 0)), [])

    def _query(self, asked: RemotingCommand) -> RemotingCommand:
        """The index is by hash: it gives all there is."""
        records = [item for queue in self.queues.values() for item in queue]
        if not records:
            return build_reply(asked, 22, remark="can not find message, maybe time range not correct")
        return build_reply(asked, body=b"".join(records))

    def _view(self, asked: RemotingCommand) -> RemotingCommand:
        wanted = int((asked.ext or {}).get("offset") or 0)
        for queue in self.queues.values():
            for item in queue:
                if int.from_bytes(item[28:36], "big") == wanted:
                    return build_reply(asked, body=item)
        return build_reply(asked, 1, remark=f"can not find message by the offset, {wanted}")

    def _pull(self, asked: RemotingCommand) -> RemotingCommand:
        ext: Mapping[str, str | None] = asked.ext or {}
        queue, at = self._queue(asked), int(ext.get("queueOffset") or 0)
        most = min(self.page, int(ext.get("maxMsgNums") or 1))
        ends = {"minOffset": str(self.oldest), "maxOffset": str(len(queue))}
        if at < self.oldest or at > len(queue):
            return build_reply(asked, 21, ext=ends | {"nextBeginOffset": str(self.oldest)})
        if at == len(queue):
            return build_reply(asked, 19, ext=ends | {"nextBeginOffset": str(at)})
        page = queue[at : at + most]
        tags = [tag.strip() for tag in (ext.get("subscription") or "*").split("||")]
        if tags != ["*"]:
            page = [item for item in page if any(f"TAGS\x01{tag}".encode() in item for tag in tags)]
        following = ends | {"nextBeginOffset": str(min(at + most, len(queue)))}
        return build_reply(asked, 0 if page else 20, ext=following, body=b"".join(page))

    def _search(self, asked: RemotingCommand) -> RemotingCommand:
        wanted = int((asked.ext or {}).get("timestamp") or 0)
        queue = self._queue(asked)
        times = [CREATED + 1000 * number for number in range(len(queue))]
        return answer_offset(asked, sum(time < wanted for time in times))

    def _send(self, asked: RemotingCommand) -> RemotingCommand:
        self.sent.append(asked)
        ext = {"msgId": "7F000001" + "0" * 24, "queueId": (asked.ext or {}).get("e"), "queueOffset": "7"}
        return build_reply(asked, ext=ext)

    def _reader(self, asked: RemotingCommand) -> GroupReader:
        return self.readers.get((asked.ext or {}).get("consumerGroup") or "", GroupReader())

    def _connections(self, asked: RemotingCommand) -> RemotingCommand:
        reader = self._reader(asked)
        if not reader.clients:
            return build_reply(asked, 206, remark="the consumer group not online")
        wanted = {"topic": "T", "expressionType": reader.expression_type, "subString": reader.sub_string}
        return answer_json(
            asked,
            {
                "connectionSet": [{"clientId": client} for client in reader.clients],
                "consumeType": reader.consume_type,
                "messageModel": reader.message_model,
                "subscriptionTable": {"T": wanted},
            },
        )

    def _committed(self, asked: RemotingCommand) -> RemotingCommand:
        committed_offset = self._reader(asked).offset
        return build_reply(asked, 22) if committed_offset is None else answer_offset(asked, committed_offset)


def answer_offset(asked: RemotingCommand, number: int) -> RemotingCommand:
    return build_reply(asked, ext={"offset": str(number)})
