"""What can be done about an error, said once for each kind."""

import pytest

from namesrv_core.errors import RocketMQError, build_request_error
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import NoneReachable, NotFound
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.console.advice import advise_on_errors

LATE = CallError("h:1", "timeout", "no answer within 3 s")
CALL_REFUSED = CallError("h:2", "unconnected", "refused")


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
            "the server's version is too old, or it is another kind of server: nsadmin "
            "clusterList lists the brokers with their versions",
        ),
        (
            build_request_error(16, "locked"),
            "the server forbids this: by a setting, by a permission of broker or topic, or to your user",
        ),
        (build_request_error(17, None), "run nsadmin topicList to list the topics"),
        (
            build_request_error(1, "org.apache.rocketmq.acl.common.AclException: No"),
            "the server checks credentials",
        ),
        (build_request_error(16, "check signature failed."), "the server checks credentials"),
        (
            build_request_error(501, "T-2 cannot find mapping item"),
            "the queue is on another broker now: try again in 30 seconds",
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
        NoneReachable([CallError("h:2", "unconnected", "refused")]),
    ],
)
def test_nothing_is_said_where_nothing_is_known(error: RocketMQError) -> None:
    assert advise_on_errors([error]) == []


def test_each_kind_has_its_line() -> None:
    assert len(advise_on_errors([build_request_error(2, "a"), build_request_error(2, "b"), LATE])) == 2


@pytest.mark.parametrize(
    ("name_servers", "advice"),
    [
        (NameServerList(("h:2",), "environment", "NAMESRV_ADDR"), ["NAMESRV_ADDR names these name servers"]),
        (NameServerList(("h:2",), "context", "prod"), ["the context prod names these name servers"]),
        (NameServerList(("h:2",), "file", "/f"), ["the file /f names these name servers"]),
        (
            NameServerList(("h:2",), "endpoint", "http://e"),
            ["the endpoint http://e returned these name servers"],
        ),
        (NameServerList(("h:2",), "given", "-n"), []),
    ],
)
def test_what_chose_name_servers_that_do_not_answer(name_servers: NameServerList, advice: list[str]) -> None:
    assert advise_on_errors([NoneReachable([CALL_REFUSED])], name_servers=name_servers) == advice


def test_a_name_server_that_is_late_is_no_wrong_address() -> None:
    servers = NameServerList(("h:1",), "context", "prod")
    assert advise_on_errors([NoneReachable([LATE])], name_servers=servers) == [
        "use --timeout SECONDS to wait longer"
    ]


def test_other_name_servers_than_those_of_the_command_were_chosen_by_something_else() -> None:
    servers = NameServerList(("h:1",), "context", "prod")
    assert advise_on_errors([NoneReachable([CALL_REFUSED])], name_servers=servers) == []


@pytest.mark.parametrize(
    ("addr", "request_type", "start"),
    [
        (
            "h:1",
            28,
            "this is the address of a name server, which does not know this request: ",
        ),
        # An old name server.
        ("h:1", 327, "the server's version is too old, or it is another kind of server"),
        ("h:1", 1005, "this is not the address of a controller: pass the addresses of controllers with -a"),
        ("h:2", 28, "the server's version is too old, or it is another kind of server"),
        ("h:2", 1002, "this is not the address of a controller: pass the addresses of controllers with -a"),
    ],
)
def test_a_name_server_that_was_named_as_a_broker(addr: str, request_type: int, start: str) -> None:
    error = build_request_error(3, f" request type {request_type} not supported")
    error.addr = addr
    [line] = advise_on_errors([error], name_servers=NameServerList(("h:1",), "context", "prod"))
    assert line.startswith(start)
