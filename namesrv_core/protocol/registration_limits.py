"""The limits of a registration: how many topics, queue mappings and filter servers it may have."""

from namesrv_core.errors import OverLimit
from namesrv_core.protocol.registration_records import BrokerRegistration
from namesrv_core.protocol.size_limits import DecodeLimits

_MIN_TOPIC_BYTES = len('"a":{"topicName":"a"},')


def check_limits(registration: BrokerRegistration, decode_limits: DecodeLimits) -> BrokerRegistration:
    """Return the registration. Raises OverLimit if it exceeds the limits."""
    if len(registration.queue_mappings) > decode_limits.registration_mappings:
        raise build_mappings_error(len(registration.queue_mappings))
    if (
        registration.topic_configs is not None
        and len(registration.topic_configs) > decode_limits.registration_topics
    ):
        raise build_topics_error(len(registration.topic_configs))
    if (
        registration.filter_servers is not None
        and len(registration.filter_servers) > decode_limits.registration_filters
    ):
        raise OverLimit(
            "maxFilterServersPerRegistration",
            f"a registration of {len(registration.filter_servers)} filter servers",
        )
    return registration


def can_exceed_limits(body_bytes: bytes, decode_limits: DecodeLimits) -> bool:
    """Whether a JSON body is so long that its entries have to be counted before decoding."""
    return len(body_bytes) > _MIN_TOPIC_BYTES * decode_limits.registration_topics


def build_topics_error(topic_count: int | str) -> OverLimit:
    """The error of a registration with too many topics. `topic_count` may be a text such as "about 9"."""
    return OverLimit("maxTopicsPerRegistration", f"a registration of {topic_count} topics")


def build_mappings_error(mapping_count: int | str) -> OverLimit:
    """The error of a registration with too many queue mappings, likewise."""
    return OverLimit("maxMappingsPerRegistration", f"a registration of {mapping_count} queue mappings")
