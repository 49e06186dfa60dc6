"""Restores a group that its broker created again: the topics that it may not read (forbiddenTable)."""

from collections.abc import Iterable

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import AlreadyRecreated, error_text

_FORBIDDEN_READ_BIT = 1 << 2
"""PermName.INDEX_PERM_READ upstream. Brokers set no other bit."""


def read_forbidden_topics(caller: Caller, broker_addrs: Iterable[str], group: str) -> dict[str, list[str]]:
    """Return the topics that a group may not read (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    def parse_topics(response: RemotingCommand) -> list[str]:
        bits = parse_json_object(response).child("forbiddenTable").child(group)
        return sorted(topic for topic in bits.members if bits.integer(topic, 0) & _FORBIDDEN_READ_BIT)

    topic_results = caller.read_each(broker_addrs, parse_topics, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    return {result.addr: result.result for result in topic_results if result.result is not None}


def complete_restoration(
    caller: Caller,
    broker_addr: str,
    group: str,
    forbidden_topics: Iterable[str],
    settings_error: RocketMQError | None,
) -> AlreadyRecreated:
    """Forbid the topics again (UPDATE_AND_GET_GROUP_FORBIDDEN, 353), after the settings were restored."""
    errors = [settings_error]
    if settings_error is None:
        requests = [
            make_request(
                RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN, broker_headers.ForbidTopic(group, topic, False)
            )
            for topic in forbidden_topics
        ]
        answers = caller.send_requests([(broker_addr, request) for request in requests])
        errors += [answer.error for answer in answers]
    first_error = next(filter(None, errors), None)
    restore_text = (
        "its settings are restored"
        if first_error is None
        else f"its settings are not restored: {error_text(first_error)}"
    )
    # After the deletion, 5.5.0 looks up the type of the group, and this lookup creates the group again.
    return AlreadyRecreated(
        f"the broker created the group again, and {restore_text}. 5.5 does so unless you delete its "
        "offsets with it (-r true), and so do connected clients."
    )
