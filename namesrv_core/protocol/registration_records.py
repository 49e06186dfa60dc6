"""The records of a registration: what a decoder of REGISTER_BROKER's body returns."""

from collections.abc import Generator, Mapping
from typing import Annotated, NamedTuple

import msgspec

from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo

_JavaInt = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
JavaLong = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
DEFAULT_QUEUES = 16
DEFAULT_PERM = 6


class RegisteredTopicConfig(msgspec.Struct, frozen=True, gc=False):
    """The members of a TopicConfig that a name server stores. Absent numbers have defaults, null is 0."""

    topicName: str | None = None
    readQueueNums: _JavaInt = DEFAULT_QUEUES
    writeQueueNums: _JavaInt = DEFAULT_QUEUES
    perm: _JavaInt = DEFAULT_PERM
    topicSysFlag: _JavaInt = 0


class RegisteredMapping(msgspec.Struct, frozen=True):
    """A queue mapping as 5.5.0 brokers send it. `json_bodies.parse_mapping_info` reads others."""

    topic: str | None = None
    scope: str | None = "__global__"
    totalQueues: _JavaInt = 0
    bname: str | None = None
    epoch: JavaLong = 0
    dirty: bool = False
    currIdMap: dict[_JavaInt, _JavaInt] | None = {}

    def to_info(self) -> MappingInfo:
        ids = tuple((self.currIdMap or {}).items())
        return MappingInfo(self.topic, self.scope, self.totalQueues, self.bname, self.epoch, self.dirty, ids)


class BrokerRegistration(NamedTuple):
    """The body of a registration.

    `topic_configs` has the keys of the body. The name server uses them only to find missing topics: the
    topic's name is in its config. None for `topic_configs` or `filter_servers` means: keep the known ones. A
    mapping is None if it was null.
    """

    data_version: DataVersion | None
    topic_configs: Mapping[str, RegisteredTopicConfig] | None
    queue_mappings: Mapping[str, MappingInfo | None]
    filter_servers: list[str | None] | None


DecodeSteps = Generator[int | None, None, BrokerRegistration]
"""A decoder that pauses between steps of less than a millisecond and returns the registration.

Each step yields how many bytes of memory the decoder will hold after the next step. None means: as before.
"""

DECODED_TOPIC_BYTES = 384
"""What a decoded topic takes: its config, its name and its place in the table, about."""
