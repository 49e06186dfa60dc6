"""Requests as lines of the log."""

import logging

import pytest

from namesrv_core.handlers.dispatch import handle
from namesrv_core.protocol.command import request
from namesrv_core.server.telling import code_name, request_name, told
from namesrv_core.state.kv import KvConfig
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import NOBODY
from namesrv_core.state.settings import Settings


def test_a_request_is_a_line_and_answered_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "namesrv")
    state = NameServerState(Settings(), KvConfig(), 0)
    answer, events = told(handle)(state, request(105, {"topic": "T"}), 7, 0, NOBODY)
    assert (answer.code, events) == (17, ())
    assert caplog.messages == ["GET_ROUTEINFO_BY_TOPIC on connection 7: TOPIC_NOT_EXIST"]


def test_what_the_protocol_has_no_name_for_is_a_number() -> None:
    assert (request_name(103), request_name(9999)) == ("REGISTER_BROKER", "request 9999")
    assert (code_name(0), code_name(9999)) == ("SUCCESS", "code 9999")
