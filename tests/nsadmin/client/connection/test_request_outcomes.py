"""Results of answers, and the refusal of changes."""

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import CallError, Exchange
from nsadmin.client.connection.request_outcomes import judge_answer, refuse_changes, report_original_addrs
from nsadmin.client.results import ReadOnlyAccess

READ, CHANGE = build_request(RequestCode.GET_BROKER_CONFIG), build_request(RequestCode.UPDATE_BROKER_CONFIG)


def test_a_change_is_refused_and_a_read_is_not() -> None:
    refuse_changes([("h:1", READ)])
    with pytest.raises(ReadOnlyAccess, match="not sent to h:1: UPDATE_BROKER_CONFIG changes the server"):
        refuse_changes([("h:1", READ), ("h:1", CHANGE)])


def test_the_error_of_a_mapped_server_names_its_own_address_and_the_connection() -> None:
    result = judge_answer("broker:1", READ, CallError("gateway:2", "timeout", "no answer"), (0,))
    assert str(result.error) == "broker:1: through gateway:2: no answer"


def test_a_change_without_an_answer_is_possibly_done() -> None:
    result = judge_answer("h:1", CHANGE, CallError("h:1", "timeout", "no answer"), (0,))
    assert str(result.error) == "h:1: no answer; the change is possibly done"


def test_a_code_that_is_not_accepted_is_an_error_with_the_address_of_the_server() -> None:
    assert judge_answer("h:1", READ, RemotingCommand(1, remark="no"), (0, 1)).result is not None
    error = judge_answer("h:1", READ, RemotingCommand(1, remark="no"), (0,)).error
    assert isinstance(error, RequestError)
    assert error.addr == "h:1"


def test_an_observer_learns_the_original_address_of_a_mapped_server() -> None:
    exchanges: list[Exchange] = []
    observer = report_original_addrs(exchanges.append, [("broker:1", READ)], [("gateway:2", READ)])
    observer(Exchange("gateway:2", 26, 0.0, 0.1, 0, 1, 1, 1, 1))
    assert (exchanges[0].addr, exchanges[0].via) == ("broker:1", "gateway:2")
    assert report_original_addrs(exchanges.append, [("h:1", READ)], [("h:1", READ)]) == exchanges.append
