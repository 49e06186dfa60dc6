"""What can be done about an error, said once for each kind."""

import pytest

from namesrv_core.errors import RocketMQError, build_request_error
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import NoneReachable, NotFound
from nsadmin.console.advice import advise_on_errors

LATE = CallError("h:1", "timeout", "no answer within 3 s")


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (
            build_request_error(2, "[TIMEOUT_CLEAN_QUEUE]broker busy"),
            "the server is overloaded: try again later",
        ),
        (
            build_request_error(2, "[REJECTREQUEST]system busy, start flow control for a while"),
            "a slave refuses all reads unless its slaveReadEnable is true",
        ),
        (
            build_request_error(3, " request type 9 not supported"),
            "the server's version is too old, or it is another kind of server: run nsadmin "
            "clusterList to see its version",
        ),
        (
            build_request_error(16, "locked"),
            "settings or permissions of the server forbid this, or forbid it to this user: run "
            "nsadmin where to see the credentials",
        ),
        (build_request_error(17, None), "run nsadmin topicList to list the topics"),
        (
            build_request_error(1, "org.apache.rocketmq.acl.common.AclException: No"),
            "the server checks credentials",
        ),
        (build_request_error(16, "check signature failed."), "the server checks credentials"),
        (
            build_request_error(501, "T-2 cannot find mapping item"),
            "run nsadmin topicRoute to see which broker has the queue now",
        ),
        (
            build_request_error(1, "RpcException: cannot find addr for broker broker-a"),
            "the broker needs another broker that it does not know yet: try again in 15 seconds, "
            "and check nsadmin clusterList",
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
        (LATE, "use --timeout SECONDS to wait longer"),
        (
            NoneReachable([CallError("h:2", "unconnected", "refused"), LATE]),
            "use --timeout SECONDS to wait longer",
        ),
        (
            NoneReachable([CallError("h:2", "unconnected", "refused")]),
            "run nsadmin where to see which setting chose these name servers",
        ),
        (NotFound('no broker has the consumer group "g"'), "run nsadmin consumerProgress to list the groups"),
        (NotFound('no topic "t" in the cluster "c"'), "run nsadmin topicList to list the topics"),
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
        build_request_error(3, "simulated brokers take no messages"),
        build_request_error(4711, None),
        CallError("h:1", "unconnected", "refused"),
    ],
)
def test_nothing_is_said_where_nothing_is_known(error: RocketMQError) -> None:
    assert advise_on_errors([error]) == []


def test_each_kind_has_its_line() -> None:
    assert len(advise_on_errors([build_request_error(2, "a"), build_request_error(2, "b"), LATE])) == 2
