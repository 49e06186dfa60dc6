"""VirtualBroker, a broker in virtual time: its topics and registrations, and its channels to name servers."""

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from tests.truth.virtual_name_server import Delivery, VirtualChannel


class VirtualBroker:
    """A broker. `run_state` is up, down or frozen. `channels` are its connections by name server.

    `cut_counts` has the number of partitions between it and each name server. `held_ends` are ends of
    connections that a partition holds back, with the name server.
    """

    def __init__(self, spec: BrokerSpec, broker_addr: str, now_ms: int) -> None:
        self.spec = spec
        self.broker_addr = broker_addr
        self.run_state = "down"
        self.run_number = 0
        self.channels: dict[str, VirtualChannel] = {}
        self.cut_counts: dict[str, int] = {}
        self.held_ends: list[tuple[str, Delivery]] = []
        self.model = BrokerModel(spec, broker_addr, (), now_ms)
        # The topics of a 5.5.0 broker that reports treat in a special way, and a few of users.
        self.model.topic_table.configs = {
            config["topicName"]: config
            for config in (
                make_topic_config(spec.cluster_name, 16, perm=7),
                make_topic_config(spec.broker_name, 1, perm=7),
                *spec.topic_configs,
            )
        }
        self._encoded: tuple[object, dict[str, str], bytes] | None = None

    @property
    def place(self) -> tuple[str, int]:
        """The name and the id."""
        return self.spec.broker_name, self.spec.broker_id

    def build_registration(self) -> RemotingCommand:
        """Build the registration of all topics; encode it only after changes."""
        version = self.model.topic_table.data_version
        if self._encoded is None or self._encoded[0] != version:
            self._encoded = (version, *self.model.encode_registration())
        return build_request(RequestCode.REGISTER_BROKER, self._encoded[1], self._encoded[2])

    def set_permission(self, perm: int, now_ms: int) -> None:
        """Set brokerPermission, as `updateBrokerConfig` does; the data version advances."""
        self.model.properties.apply_update(f"brokerPermission={perm}".encode(), now_ms)
        self.model.topic_table.advance_version(now_ms)
