"""The limits of a registration: how many topics, queue mappings and filter servers, and how long names."""

import re
from collections.abc import Generator

from namesrv_core.errors import OverLimit
from namesrv_core.protocol.registration_records import BrokerRegistration
from namesrv_core.protocol.resource_names import check_name, check_topic_name
from namesrv_core.protocol.size_limits import DecodeLimits

_MIN_TOPIC_BYTES = len('"a":{"topicName":"a"},')
_NAMES_PER_STEP = 4096
_QUEUE_ID = re.compile(rb'[0-9]"?\s*:\s*(?:["\[{]\s*)?-?[0-9]')
_MIN_QUEUE_ID_BYTES = len("0:0,")
_ID_LOOKALIKES = 2_000
"""A few other texts in a registration look like queue ids: addresses, for example."""
_PIECE_BYTES = 1 << 16


def check_limits(registration: BrokerRegistration, limits: DecodeLimits) -> BrokerRegistration:
    """Return the registration. Raises OverLimit if it exceeds the limits."""
    for _ in check_limits_in_steps(registration, limits):
        pass
    return registration


def check_limits_in_steps(
    registration: BrokerRegistration, limits: DecodeLimits
) -> Generator[None, None, None]:
    """Like `check_limits`. The names of 100,000 topics take several milliseconds."""
    _check_entry_counts(registration, limits)
    max_bytes = limits.name_bytes
    for server in registration.filter_servers or ():
        check_name("filter server", server, max_bytes)
    for topic, mapping in registration.queue_mappings.items():
        check_topic_name(topic, max_bytes)
        if mapping is not None:
            check_topic_name(mapping.topic, max_bytes)
            check_name("scope", mapping.scope, max_bytes)
            check_name("broker", mapping.bname, max_bytes)
    for config_index, config in enumerate((registration.topic_configs or {}).values(), 1):
        check_topic_name(config.topicName, max_bytes)
        if config_index % _NAMES_PER_STEP == 0:
            yield


def _check_entry_counts(registration: BrokerRegistration, limits: DecodeLimits) -> None:
    if len(registration.queue_mappings) > limits.registration_mappings:
        raise build_mappings_error(len(registration.queue_mappings))
    id_count = sum(len(mapping.curr_id_map) for mapping in registration.queue_mappings.values() if mapping)
    if id_count > limits.registration_queue_ids:
        raise build_ids_error(id_count)
    if (
        registration.topic_configs is not None
        and len(registration.topic_configs) > limits.registration_topics
    ):
        raise build_topics_error(len(registration.topic_configs))
    if (
        registration.filter_servers is not None
        and len(registration.filter_servers) > limits.registration_filters
    ):
        raise OverLimit(
            "maxFilterServersPerRegistration",
            f"a registration of {len(registration.filter_servers)} filter servers",
        )


def can_exceed_limits(body_bytes: bytes, limits: DecodeLimits) -> bool:
    """Whether a JSON body is so long that its entries must be counted before decoding."""
    return len(body_bytes) > _MIN_TOPIC_BYTES * limits.registration_topics


def count_ids_in_steps(data: bytes, limits: DecodeLimits) -> Generator[None, None, None]:
    """Raise OverLimit for JSON with too many queue ids, before it is decoded."""
    max_count = limits.registration_queue_ids + _ID_LOOKALIKES
    if len(data) <= _MIN_QUEUE_ID_BYTES * max_count:
        return
    id_count = 0
    for piece_start in range(0, len(data), _PIECE_BYTES):
        id_count += len(_QUEUE_ID.findall(data, piece_start, piece_start + _PIECE_BYTES))
        if id_count > max_count:
            raise build_ids_error(f"more than {max_count}")
        yield


def check_id_count(data: bytes, limits: DecodeLimits) -> None:
    for _ in count_ids_in_steps(data, limits):
        pass


def build_topics_error(topic_count: int | str) -> OverLimit:
    """The error of a registration with too many topics. `topic_count` may be a text such as "about 9"."""
    return OverLimit("maxTopicsPerRegistration", f"a registration of {topic_count} topics")


def build_mappings_error(mapping_count: int | str) -> OverLimit:
    """The error of a registration with too many queue mappings, likewise."""
    return OverLimit("maxMappingsPerRegistration", f"a registration of {mapping_count} queue mappings")


def build_ids_error(id_count: int | str) -> OverLimit:
    """The error of a registration with too many queue ids in its mappings, likewise."""
    return OverLimit("maxQueueIdsPerRegistration", f"a registration of {id_count} queue ids")
