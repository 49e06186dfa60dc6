"""Deletions of many topics or groups on brokers: one request for a list, or one for each on older brokers."""

from collections.abc import Callable, Iterable

from namesrv_core.errors import NotSupported
from namesrv_core.protocol import broker_headers, fastjson, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.results import ServerResult

_TIMEOUT_SECONDS = 60.0
_MAX_LIST = 100
"""Names of a request: a broker deletes ten in a second (batchDeleteTopicMaxRate)."""

Places = Iterable[tuple[str, str]]
"""Pairs of (broker address, name)."""


def send_topic_deletions(caller: Caller, places: Places) -> list[ServerResult[RemotingCommand]]:
    """Delete topics on brokers (DELETE_TOPIC_IN_BROKER_LIST, 5002, since 5.5.1; DELETE_TOPIC_IN_BROKER, 215).

    Returns one result per pair, in order.
    """
    return _send(
        caller,
        places,
        lambda names: make_request(
            RequestCode.DELETE_TOPIC_IN_BROKER_LIST, None, fastjson.encode_json({"topicList": names})
        ),
        lambda name: make_request(RequestCode.DELETE_TOPIC_IN_BROKER, headers.DeleteTopic(name)),
    )


def send_group_deletions(
    caller: Caller, places: Places, *, clean_offset: bool
) -> list[ServerResult[RemotingCommand]]:
    """Delete groups (DELETE_SUBSCRIPTION_GROUP_LIST, 5003, since 5.5.1; DELETE_SUBSCRIPTIONGROUP, 207)."""
    return _send(
        caller,
        places,
        lambda names: make_request(
            RequestCode.DELETE_SUBSCRIPTION_GROUP_LIST,
            None,
            fastjson.encode_json({"groupNameList": names, "cleanOffset": clean_offset}),
        ),
        lambda name: make_request(
            RequestCode.DELETE_SUBSCRIPTIONGROUP, broker_headers.DeleteGroup(name, clean_offset, clean_offset)
        ),
    )


def _send(
    caller: Caller,
    places: Places,
    make_list_request: Callable[[list[str]], RemotingCommand],
    make_single_request: Callable[[str], RemotingCommand],
) -> list[ServerResult[RemotingCommand]]:
    places = list(places)
    timeout_seconds = max(_TIMEOUT_SECONDS, caller.access.timeout)
    names_by_addr: dict[str, list[str]] = {}
    for addr, name in places:
        names_by_addr.setdefault(addr, []).append(name)
    lists = [
        (addr, names[start : start + _MAX_LIST])
        for addr, names in names_by_addr.items()
        if len(names) > 1
        for start in range(0, len(names), _MAX_LIST)
    ]
    answers = caller.send_requests(((a, make_list_request(names)) for a, names in lists), timeout_seconds)
    results = {
        (addr, name): answer
        for (addr, names), answer in zip(lists, answers, strict=True)
        if not isinstance(answer.error, NotSupported)
        for name in names
    }
    singles = [place for place in places if place not in results]
    single_answers = caller.send_requests(((a, make_single_request(n)) for a, n in singles), timeout_seconds)
    results |= dict(zip(singles, single_answers, strict=True))
    return [results[place] for place in places]
