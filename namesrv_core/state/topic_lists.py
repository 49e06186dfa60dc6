"""The bodies of topic lists, encoded in steps."""

from collections.abc import Callable
from io import BytesIO

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import TOPIC_SYS_FLAG_UNIT, TOPIC_SYS_FLAG_UNIT_SUB
from namesrv_core.state.list_cache import BodySteps
from namesrv_core.state.placements import QueuePlacement
from namesrv_core.state.route_tables import RouteTables

PlacementTest = Callable[[QueuePlacement], bool]
"""Whether the topics of a placement belong to a list."""

_TOPICS_PER_STEP = 1024
_BOTH_UNIT_FLAGS = TOPIC_SYS_FLAG_UNIT | TOPIC_SYS_FLAG_UNIT_SUB


def encode_topics_in_steps(tables: RouteTables, is_listed: PlacementTest | None = None) -> BodySteps:
    """The body TopicList of all topics, or of those whose placement is listed.

    The list has the topics of the first step, without those that are deleted or moved until their own step.
    """
    # BytesIO grows in place, and its `getvalue` returns the buffer without a copy.
    buffer = BytesIO()
    buffer.write(b'{"topicList":[')
    separator = ""
    # In reverse, because the end of a list can be removed in steps.
    remaining = list(reversed(tables.placements_by_topic))
    while remaining:
        yield
        topics = remaining[: -_TOPICS_PER_STEP - 1 : -1]
        del remaining[-_TOPICS_PER_STEP:]
        if is_listed is not None:
            topics = [
                topic
                for topic in topics
                if (placement := tables.placements_by_topic.get(topic)) is not None and is_listed(placement)
            ]
        if topics:
            names_json = separator + ",".join(map(fastjson.encode_json_text, topics))
            buffer.write(fastjson.encode_json(fastjson.EncodedJson(names_json)))
            separator = ","
    buffer.write(b"]}")
    return buffer.getvalue()


def build_cluster_test(tables: RouteTables, cluster_name: str | None) -> PlacementTest:
    """The test for the topics with queues on a broker of the cluster."""
    names = frozenset(() if cluster_name is None else tables.broker_names_by_cluster.get(cluster_name, ()))
    return lambda placement: not names.isdisjoint(placement.broker_queues)


def is_unit_topic(placement: QueuePlacement) -> bool:
    return bool(_sys_flags_of(placement) & TOPIC_SYS_FLAG_UNIT)


def is_unit_sub_topic(placement: QueuePlacement) -> bool:
    return bool(_sys_flags_of(placement) & TOPIC_SYS_FLAG_UNIT_SUB)


def is_unit_sub_ununit_topic(placement: QueuePlacement) -> bool:
    return _sys_flags_of(placement) & _BOTH_UNIT_FLAGS == TOPIC_SYS_FLAG_UNIT_SUB


def _sys_flags_of(placement: QueuePlacement) -> int:
    """The sysFlag of a topic's first broker."""
    return next(iter(placement.broker_queues.values())).topic_sys_flag
