"""Two ends of a conversation joined without a socket, and the registrations that are said over it.

What is asked travels as bytes in both directions, so that a test of a handler is one of its wire form too.
"""

from collections.abc import Iterable, Mapping, Sequence

from namesrv_core.events import Event
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol import codec, fastjson
from namesrv_core.protocol.codes import V5_5_0, HeaderType, RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings

STARTED_AT = 1_700_000_000_000
VERSION = DataVersion(1, 0, 1)


def carry_command(command: RemotingCommand) -> RemotingCommand:
    """The command as the other end sees it."""
    (received,) = ProtocolConnection().feed_bytes(codec.encode_command(command))
    return received


class Wire:
    """A name server's state at the far end of a wire; requests have the header form `form`."""

    def __init__(
        self, form: HeaderType = HeaderType.JSON, settings: NameServerSettings | None = None
    ) -> None:
        self.form = form
        self.state = NameServerState(settings or NameServerSettings(), KvConfig(), STARTED_AT)
        self.events: Sequence[Event] = ()
        self._opaque = 0

    def send_request(
        self,
        code: int,
        ext: ExtFields | None = None,
        body: bytes = b"",
        *,
        version: int = V5_5_0,
        channel: int = 1,
        now: int = STARTED_AT,
    ) -> RemotingCommand:
        """The answer to a request; what it changed is in `events`."""
        self._opaque += 1
        asked = RemotingCommand(
            code, ext, body, opaque=self._opaque, version=version, language="GO", header_type=self.form
        )
        answer, self.events = handle_request(self.state, carry_command(asked), channel, now)
        received_answer = carry_command(answer)
        assert (received_answer.opaque, received_answer.flag, received_answer.header_type) == (
            self._opaque,
            1,
            self.form,
        )
        assert (received_answer.language, received_answer.version) == ("JAVA", V5_5_0)
        return received_answer

    def register_broker(
        self,
        broker: str = "a",
        *topics: str,
        broker_id: int = 0,
        addr: str = "10.0.0.1:10911",
        cluster: str = "c",
        version: DataVersion = VERSION,
        channel: int = 1,
        now: int = STARTED_AT,
        more: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> RemotingCommand:
        """REGISTER_BROKER with these topics, as a 5.x broker sends it."""
        ext = broker_ext(broker, broker_id, addr, cluster) | {"haServerAddr": f"ha-{addr}"} | dict(more or {})
        content = registration_body(topics, version) if body is None else body
        return self.send_request(RequestCode.REGISTER_BROKER, ext, content, channel=channel, now=now)


def broker_ext(
    broker: str = "a", broker_id: int = 0, addr: str = "10.0.0.1:10911", cluster: str = "c"
) -> dict[str, str]:
    return {"brokerName": broker, "brokerAddr": addr, "clusterName": cluster, "brokerId": str(broker_id)}


def topic_config(topic: str, **fields: object) -> dict[str, object]:
    """A TopicConfig with every member that a 5.x broker sends."""
    return {
        "attributes": {},
        "order": False,
        "perm": 6,
        "readQueueNums": 8,
        "topicFilterType": "SINGLE_TAG",
        "topicName": topic,
        "topicSysFlag": 0,
        "writeQueueNums": 8,
        **fields,
    }


def registration_body(
    topics: Iterable[str | dict[str, object]] = (),
    version: DataVersion = VERSION,
    mappings: Mapping[str, object] | None = None,
    filters: object = (),
) -> bytes:
    """A RegisterBrokerBody; topics are names, or whole configs."""
    configs = [topic_config(topic) if isinstance(topic, str) else topic for topic in topics]
    return fastjson.encode_json(
        {
            "filterServerList": filters,
            "topicConfigSerializeWrapper": {
                "dataVersion": version.to_json(),
                "mappingDataVersion": {"counter": 0, "stateVersion": 0, "timestamp": 1},
                "topicConfigTable": {str(config["topicName"]): config for config in configs},
                "topicQueueMappingDetailMap": {},
                "topicQueueMappingInfoMap": dict(mappings or {}),
            },
        }
    )
