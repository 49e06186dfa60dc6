"""Requests as lines of the log."""

import logging

import pytest

from namesrv_core.errors import ResponseCode
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from namesrv_core.server.request_log import log_requests
from namesrv_core.state.access_policy import ANONYMOUS_PEER
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings


def test_a_request_is_a_line_and_answered_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "namesrv")
    state = NameServerState(NameServerSettings(), KvConfig(), 0)
    answer, events = log_requests(handle_request)(
        state, build_request(105, {"topic": "T"}), 7, 0, ANONYMOUS_PEER
    )
    assert (answer.code, events) == (17, ())
    assert caplog.messages == ["GET_ROUTEINFO_BY_TOPIC on connection 7: TOPIC_NOT_EXIST"]


def test_what_the_protocol_has_no_name_for_is_a_number() -> None:
    assert (RequestCode.name_of(103), RequestCode.name_of(9999)) == ("REGISTER_BROKER", "request 9999")
    assert (ResponseCode.name_of(0), ResponseCode.name_of(9999)) == ("SUCCESS", None)
