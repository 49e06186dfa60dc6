"""What can be done about an error, said once for each kind."""

import pytest

from namesrv_core.errors import RocketMQError, build_request_error
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.advice import advise_on_errors
from nsadmin.client import NoneReachable, NotFound

LATE = CallError("h:1", "timeout", "no answer within 3 s")


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (build_request_error(2, "[REJECTREQUEST]system busy"), "the server has more to do"),
        (
            build_request_error(3, " request type 9 not supported"),
            "its release is too old",
        ),
        (build_request_error(16, "locked"), "settings or permissions forbid it"),
        (build_request_error(17, None), "topicList shows"),
        (
            build_request_error(1, "org.apache.rocketmq.acl.common.AclException: No"),
            "the server checks credentials",
        ),
        (build_request_error(16, "check signature failed."), "the server checks credentials"),
        (build_request_error(501, "T-2 cannot find mapping item"), "topicRoute shows"),
        (
            build_request_error(1, "RpcException: cannot find addr for broker broker-a"),
            "that broker has to ask another one",
        ),
        (
            build_request_error(1, "An system error occurred, please try again later."),
            "the broker probably has no store of users and ACLs: set authenticationMetadataProvider",
        ),
        (
            build_request_error(
                1,
                "java.lang.IllegalStateException: The authorizationMetadataProvider is not configured., org.",
            ),
            "the broker probably has no store of users and ACLs: set authenticationMetadataProvider",
        ),
        (LATE, "--timeout SECONDS gives it longer"),
        (
            NoneReachable([CallError("h:2", "unconnected", "refused"), LATE]),
            "--timeout SECONDS gives it longer",
        ),
    ],
)
def test_what_can_be_done(error: RocketMQError, start: str) -> None:
    [line] = advise_on_errors([None, error, error])
    assert line.startswith(start)


@pytest.mark.parametrize(
    "error",
    [
        NotFound("x"),
        build_request_error(1, "oh"),
        build_request_error(4711, None),
        CallError("h:1", "unconnected", "refused"),
    ],
)
def test_nothing_is_said_where_nothing_is_known(error: RocketMQError) -> None:
    assert advise_on_errors([error]) == []


def test_each_kind_has_its_line() -> None:
    assert len(advise_on_errors([build_request_error(2, "a"), build_request_error(2, "b"), LATE])) == 2
