"""Encodes the records of traces as producers write them (TraceDataEncoder upstream). Pure."""

from nsadmin.client.messages.message_traces import FIELD_SEPARATOR, MESSAGE_TYPES, RECORD_SEPARATOR

DEFAULT_REGION = "DefaultRegion"
NORMAL_MESSAGE, HALF_MESSAGE, TRANSACTION_END, DELAYED_MESSAGE = MESSAGE_TYPES[:4]
TRANSACTION_STATES = {"commit": "COMMIT_MESSAGE", "rollback": "ROLLBACK_MESSAGE"}


def encode_send_record(
    *,
    group: str,
    topic: str,
    msg_id: str,
    tags: str,
    keys: str,
    broker_addr: str,
    offset_msg_id: str | None,
    region_id: str,
    body_length: int,
    began_ms: int,
    cost_ms: int,
    message_type: str = NORMAL_MESSAGE,
) -> str:
    """Encode the record of a send that succeeded."""
    return _join_fields(
        "Pub", began_ms, region_id, group, topic, msg_id, tags, keys, broker_addr, body_length, cost_ms,
        MESSAGE_TYPES.index(message_type), offset_msg_id, "true",
    )  # fmt: skip


def encode_transaction_record(
    *,
    group: str,
    topic: str,
    msg_id: str,
    tags: str,
    keys: str,
    broker_addr: str,
    region_id: str,
    ended_ms: int,
    outcome: str,
) -> str:
    """Encode the record of a commit or a rollback."""
    return _join_fields(
        "EndTransaction", ended_ms, region_id, group, topic, msg_id, tags, keys, broker_addr,
        MESSAGE_TYPES.index(TRANSACTION_END), msg_id, TRANSACTION_STATES[outcome], "false",
    )  # fmt: skip


def _join_fields(*fields: object) -> str:
    return FIELD_SEPARATOR.join(map(str, fields)) + RECORD_SEPARATOR
