"""The records of the queues of a simulated broker, as PULL_MESSAGE answers them."""

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from tests.simulation.broker import SimulatedBroker
from tests.support.messages import encode_message


class RecordStore:
    """The records of a broker. `queues` has those of each queue by topic and queue id."""

    def __init__(self, broker: SimulatedBroker) -> None:
        self.queues: dict[tuple[str, int], list[bytes]] = {}
        self._broker = broker

    def list_stored(self, topic: str) -> list[StoredMessage]:
        return [
            message
            for (name, _), records in self.queues.items()
            if name == topic
            for message in decode_messages(b"".join(records)).messages
        ]

    def add(self, body: bytes, topic: str, queue_id: int, properties: dict[str, str]) -> dict[str, str]:
        """Store a message, and return the fields of the answer."""
        broker, queue = self._broker, self.queues.setdefault((topic, queue_id), [])
        broker.log_end += 1_000
        record = encode_message(
            body,
            topic,
            table=properties,
            queue_id=queue_id,
            queue_offset=len(queue),
            physical=broker.log_end,
            stored=broker.world.true_ms,
            store_ip=bytes(map(int, broker.addr.partition(":")[0].split("."))),
            store_port=10911,
        )
        queue.append(record)
        place = {"queueId": str(queue_id), "queueOffset": str(len(queue) - 1)}
        return place | {"msgId": f"{record[48:56].hex().upper()}{record[28:36].hex().upper()}"}

    def pull(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext or {}
        queue = self.queues.get((fields.get("topic") or "", int(fields.get("queueId") or 0)), [])
        begin, count = int(fields.get("queueOffset") or 0), int(fields.get("maxMsgNums") or 1)
        page = queue[begin : begin + min(count, 8)]
        code = ResponseCode.SUCCESS if page else ResponseCode.PULL_NOT_FOUND
        bounds = {"minOffset": "0", "maxOffset": str(len(queue)), "nextBeginOffset": str(begin + len(page))}
        return build_reply(request, code, ext=bounds, body=b"".join(page))
