"""Owns advice about errors, by response code."""

import re
from collections.abc import Iterable

from namesrv_core.errors import NotSupported, RequestError, ResponseCode, RocketMQError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.results import NoneReachable, NotFound, is_denied
from nsadmin.console.error_meanings import ERROR_MEANINGS
from nsadmin.console.language import translate_advice

_ADVICE_BY_CODE = {m.code: m.advice for m in ERROR_MEANINGS if m.advice is not None}
# The start of the sentence that says which name is unknown, and the command that lists the known names.
_ADVICE_BY_UNKNOWN_NAME = {
    "no broker has the consumer group": _ADVICE_BY_CODE[ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST],
    "this broker does not have the consumer group": _ADVICE_BY_CODE[
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    ],
    "no broker has the topic ": _ADVICE_BY_CODE[ResponseCode.TOPIC_NOT_EXIST],
    "no topic ": _ADVICE_BY_CODE[ResponseCode.TOPIC_NOT_EXIST],
    "no user ": _ADVICE_BY_CODE[ResponseCode.USER_NOT_EXIST],
}
_ADVICE_BY_SOURCE = {
    "default": "pass a name server with -n HOST:PORT, or save one: nsadmin context set NAME -n HOST:PORT",
    "environment": "NAMESRV_ADDR names these name servers",
    "context": "the context {origin} names these name servers",
    "file": "the file {origin} names these name servers",
    "endpoint": "the endpoint {origin} returned these name servers",
}
"""By the source of the name servers. Who typed them knows what chose them."""
_NO_BROKER_ADVICE = (
    "this is the address of a name server, which does not know this request: nsadmin clusterList lists the "
    "brokers"
)
_NO_CONTROLLER_ADVICE = "this is not the address of a controller: pass the addresses of controllers with -a"
# The remark of Java servers.
_UNKNOWN_REQUEST = re.compile(r"request type (\d{1,5}) not supported")
_NEIGHBOUR_ADVICE = (
    "the broker needs another broker that it does not know yet: try again in 15 seconds, "
    "and check nsadmin clusterList"
)
_CREDENTIALS_ADVICE = (
    "the server checks credentials: save them in the context, or set NSADMIN_ACCESS_KEY "
    "and NSADMIN_SECRET_KEY"
)
# The remark of brokers whose processor rejects requests of a kind (rejectRequest).
_REJECTED_REMARK = "[REJECTREQUEST]"
_REJECTED_ADVICE = (
    "a slave refuses all reads unless its slaveReadEnable is true (nsadmin clusterList has the slaves). A "
    "master refuses sends while its page cache is busy: then try again later"
)
# Remarks of 5.5.0 brokers without the providers, to requests about ACLs and about users.
_PROVIDER_REMARKS = (
    "MetadataProvider is not configured",
    "An system error occurred, please try again later.",
)
_PROVIDER_ADVICE = (
    "the broker probably has no store of users and ACLs: set "
    "authenticationMetadataProvider and authorizationMetadataProvider in broker.conf and "
    "restart it"
)


def advise_on_errors(
    errors: Iterable[RocketMQError | None],
    target: str = "-c CLUSTER",
    name_servers: NameServerList | None = None,
) -> list[str]:
    """Return advice, once for each kind of error; none for errors whose own text has it.

    `target` are the words of the command line that name its brokers. `name_servers` are those that chose a
    wrong address if no name server answers; None if their choice was no mistake.
    """
    name_servers = name_servers or NameServerList((), "")
    advice_texts = (_advise_on_error(error, name_servers) for error in errors if error is not None)
    return [
        translate_advice(text).replace("{target}", target).replace("{origin}", name_servers.origin)
        for text in dict.fromkeys(advice_texts)
        if text is not None
    ]


def _advise_on_error(error: RocketMQError, name_servers: NameServerList) -> str | None:
    if isinstance(error, NoneReachable):
        texts = (_advise_on_error(e, name_servers) for e in error.errors)
        return next(filter(None, texts), None) or _advise_on_unreachable(error, name_servers)
    if isinstance(error, NotFound):
        return next(
            (advice for start, advice in _ADVICE_BY_UNKNOWN_NAME.items() if str(error).startswith(start)),
            None,
        )
    if isinstance(error, CallError):
        return "use --timeout SECONDS to wait longer" if error.kind == "timeout" else None
    if not isinstance(error, RequestError):
        return None
    if is_denied(error):
        return _CREDENTIALS_ADVICE
    # After a queue of a static topic has moved, its broker asks the previous one for its earlier messages.
    if "cannot find addr for broker" in str(error):
        return _NEIGHBOUR_ADVICE
    if _REJECTED_REMARK in str(error):
        return _REJECTED_ADVICE
    if any(remark in str(error) for remark in _PROVIDER_REMARKS):
        return _PROVIDER_ADVICE
    request_code = _find_unknown_request(error)
    if request_code is not None and request_code.name.startswith("CONTROLLER_"):
        return _NO_CONTROLLER_ADVICE
    if error.addr in name_servers.addrs and request_code is not None and not request_code.senders:
        return _NO_BROKER_ADVICE
    # Another remark than Java's " request type 310 not supported" says itself why.
    if isinstance(error, NotSupported) and error.remark and "request type" not in error.remark:
        return None
    return _ADVICE_BY_CODE.get(error.code)


def _find_unknown_request(error: RequestError) -> RequestCode | None:
    """The request that a server does not know; None for another error."""
    unknown = _UNKNOWN_REQUEST.search(error.remark or "")
    return RequestCode.find(int(unknown[1])) if unknown else None


def _advise_on_unreachable(error: NoneReachable, name_servers: NameServerList) -> str | None:
    """Say what chose wrong addresses. Those of another cluster, such as a target, are named on the line."""
    is_wrong_address = all(
        e.kind in ("unconnected", "unresolvable") and e.addr in name_servers.addrs for e in error.errors
    )
    return _ADVICE_BY_SOURCE.get(name_servers.source) if is_wrong_address else None
