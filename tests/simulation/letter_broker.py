"""A broker of the simulation that has the dead letters of the group G, and stores what is sent to it."""

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages, parse_properties
from tests.simulation.broker import SimulatedBroker
from tests.support.messages import encode_message

GROUP, DEAD_TOPIC, RETRY_TOPIC = "G", "%DLQ%G", "%RETRY%G"


class LetterBroker(SimulatedBroker):
    """`queues` has the records of each queue by topic and queue id."""

    def add_letters(self, count: int) -> None:
        self.queues: dict[tuple[str, int], list[bytes]] = {}
        for number in range(count):
            properties = {
                "DELAY": "0",
                "ORIGIN_MESSAGE_ID": f"{self.title}-{number}",
                "RETRY_TOPIC": "orders",
            }
            self._store(f"{self.title} {number}".encode(), DEAD_TOPIC, number % 2, properties)

    def list_stored(self, topic: str) -> list[StoredMessage]:
        return [
            message
            for (name, _), records in self.queues.items()
            if name == topic
            for message in decode_messages(b"".join(records)).messages
        ]

    def _store(self, body: bytes, topic: str, queue_id: int, properties: dict[str, str]) -> dict[str, str]:
        queue = self.queues.setdefault((topic, queue_id), [])
        self.log_end += 1_000
        record = encode_message(
            body,
            topic,
            table=properties,
            queue_id=queue_id,
            queue_offset=len(queue),
            physical=self.log_end,
            stored=self.world.true_ms,
            store_ip=bytes(map(int, self.addr.partition(":")[0].split("."))),
            store_port=10911,
        )
        queue.append(record)
        place = {"queueId": str(queue_id), "queueOffset": str(len(queue) - 1)}
        return place | {"msgId": f"{record[48:56].hex().upper()}{record[28:36].hex().upper()}"}

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext or {}
        queue = self.queues.get((fields.get("topic") or "", int(fields.get("queueId") or 0)), [])
        match request.code:
            case RequestCode.GET_MIN_OFFSET | RequestCode.SEARCH_OFFSET_BY_TIMESTAMP:
                return build_reply(request, ext={"offset": "0"})
            case RequestCode.GET_MAX_OFFSET:
                return build_reply(request, ext={"offset": str(len(queue))})
            case RequestCode.PULL_MESSAGE:
                return _pull(request, queue)
            case RequestCode.VIEW_MESSAGE_BY_ID:
                return build_reply(request, ResponseCode.SYSTEM_ERROR)
            case RequestCode.SEND_MESSAGE_V2:
                properties = parse_properties((fields.get("i") or "").encode())
                place = self._store(
                    request.body, fields.get("b") or "", int(fields.get("e") or 0), properties
                )
                return build_reply(request, ext=place)
        return super().handle(request)


def _pull(request: RemotingCommand, queue: list[bytes]) -> RemotingCommand:
    fields = request.ext or {}
    begin, count = int(fields.get("queueOffset") or 0), int(fields.get("maxMsgNums") or 1)
    page = queue[begin : begin + min(count, 8)]
    code = ResponseCode.SUCCESS if page else ResponseCode.PULL_NOT_FOUND
    bounds = {"minOffset": "0", "maxOffset": str(len(queue)), "nextBeginOffset": str(begin + len(page))}
    return build_reply(request, code, ext=bounds, body=b"".join(page))
