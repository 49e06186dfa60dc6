"""Owns advice about errors, by response code."""

from collections.abc import Iterable

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.results import NoneReachable, is_denied

_BUSY_ADVICE = "the server has more to do than it can: try again in a while"
_ADVICE_BY_CODE: dict[int, str] = {
    ResponseCode.SYSTEM_BUSY: _BUSY_ADVICE,
    ResponseCode.FLOW_CONTROL: _BUSY_ADVICE,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED: (
        "its release is too old for this, or it is no server of the kind that was meant; brokerStatus -b ADDR"
        " shows a broker's release"
    ),
    ResponseCode.SERVICE_NOT_AVAILABLE: (
        "the broker is starting or stopping, or may not do this now; brokerStatus -b ADDR shows its state"
    ),
    ResponseCode.NO_PERMISSION: (
        "settings or permissions forbid it there, or forbid it to who asks: contextShow says who that is"
    ),
    ResponseCode.TOPIC_NOT_EXIST: "topicList shows the topics there are",
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: "consumerProgress shows the groups there are",
    ResponseCode.NOT_LEADER_FOR_QUEUE: "topicRoute shows which broker has a queue of a static topic now",
    ResponseCode.CONSUMER_NOT_ONLINE: "no client of the group is connected; consumerConnection shows those",
}
_NEIGHBOUR_ADVICE = (
    "that broker has to ask another one, and does not know yet where it is: try again in 15 seconds, and see"
    " with clusterList whether it is there"
)
_CREDENTIALS_ADVICE = (
    "the server checks credentials: those of the context, or NSADMIN_ACCESS_KEY and NSADMIN_SECRET_KEY"
)
# Remarks of 5.5.0 brokers without the providers: to requests about ACLs, and to those about users.
_PROVIDER_REMARKS = (
    "MetadataProvider is not configured",
    "An system error occurred, please try again later.",
)
_PROVIDER_ADVICE = (
    "the broker probably has no store of users and ACLs: set authenticationMetadataProvider and"
    " authorizationMetadataProvider in broker.conf and restart it"
)


def advise_on_errors(errors: Iterable[RocketMQError | None]) -> list[str]:
    """Return advice, once for each kind of error; none for errors whose own text has it."""
    advice_texts = (_advise_on_error(error) for error in errors if error is not None)
    return list(dict.fromkeys(advice_text for advice_text in advice_texts if advice_text is not None))


def _advise_on_error(error: RocketMQError) -> str | None:
    if isinstance(error, NoneReachable):
        return next(iter(advise_on_errors(error.errors)), None)
    if isinstance(error, CallError):
        return "--timeout SECONDS gives it longer" if error.kind == "timeout" else None
    if not isinstance(error, RequestError):
        return None
    if is_denied(error):
        return _CREDENTIALS_ADVICE
    # Where a queue of a static topic has moved, its broker gets from the one before what that has.
    if "cannot find addr for broker" in str(error):
        return _NEIGHBOUR_ADVICE
    if any(remark in str(error) for remark in _PROVIDER_REMARKS):
        return _PROVIDER_ADVICE
    return _ADVICE_BY_CODE.get(error.code)
