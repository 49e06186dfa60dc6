"""A broker of the simulation that has the dead letters of the group G, and stores what is sent to it."""

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.stored_messages import parse_properties
from tests.simulation.broker import SimulatedBroker
from tests.simulation.record_store import RecordStore

GROUP, DEAD_TOPIC, RETRY_TOPIC = "G", "%DLQ%G", "%RETRY%G"


class LetterBroker(SimulatedBroker):
    """`records` has the dead letters, and what is sent."""

    def add_letters(self, count: int) -> None:
        self.records = RecordStore(self)
        for number in range(count):
            properties = {
                "DELAY": "0",
                "ORIGIN_MESSAGE_ID": f"{self.title}-{number}",
                "RETRY_TOPIC": "orders",
            }
            self.records.add(f"{self.title} {number}".encode(), DEAD_TOPIC, number % 2, properties)

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        fields = request.ext or {}
        queue = self.records.queues.get((fields.get("topic") or "", int(fields.get("queueId") or 0)), [])
        match request.code:
            case RequestCode.GET_MIN_OFFSET | RequestCode.SEARCH_OFFSET_BY_TIMESTAMP:
                return build_reply(request, ext={"offset": "0"})
            case RequestCode.GET_MAX_OFFSET:
                return build_reply(request, ext={"offset": str(len(queue))})
            case RequestCode.PULL_MESSAGE:
                return self.records.pull(request)
            case RequestCode.VIEW_MESSAGE_BY_ID:
                return build_reply(request, ResponseCode.SYSTEM_ERROR)
            case RequestCode.SEND_MESSAGE_V2:
                properties = parse_properties((fields.get("i") or "").encode())
                place = self.records.add(
                    request.body, fields.get("b") or "", int(fields.get("e") or 0), properties
                )
                return build_reply(request, ext=place)
        return super().handle(request)
