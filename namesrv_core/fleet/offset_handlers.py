"""The handlers for requests about offsets of queues and of consumer groups."""

from namesrv_core.fleet import stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import HandlerOutcome
from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.command import RemotingCommand


def get_all_offsets(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(stats.all_offsets_json(model, now_ms))


def _offset_outcome(offset: int) -> HandlerOutcome:
    return HandlerOutcome(ext_fields={"offset": str(offset)})


def query_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ConsumerOffset, command.ext)
    return _offset_outcome(
        stats.require_committed_offset(
            model, header.consumer_group or "", header.topic or "", header.queue_id, now_ms
        )
    )


def update_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.ConsumerOffset, command.ext)
    group, topic = header.consumer_group or "", header.topic or ""
    stats.require_topic_and_group(model, group, topic)
    model.offsets.move_offset((group, topic, header.queue_id), header.commit_offset or 0, now_ms)
    return HandlerOutcome()


def reset_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.reset_offsets(model, headers.read_header(broker_headers.ResetOffset, command.ext), now_ms)
    )


def get_max_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return _offset_outcome(
        stats.queue_end_offset(model, headers.read_header(broker_headers.QueueOffset, command.ext), now_ms)
    )


def get_min_offset(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return _offset_outcome(
        stats.queue_begin_offset(model, headers.read_header(broker_headers.QueueOffset, command.ext), now_ms)
    )


def search_offset_by_time(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Find the first message that was stored at that time or later."""
    header = headers.read_header(broker_headers.QueueOffset, command.ext)
    return _offset_outcome(stats.queue_end_offset(model, header, min((header.timestamp or 0) - 1, now_ms)))
