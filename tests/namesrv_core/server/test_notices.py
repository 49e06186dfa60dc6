"""Notices go out in the background."""

import logging

import pytest

from namesrv_core.events import MinBrokerIdChanged
from namesrv_core.protocol.command import Command
from namesrv_core.server.notices import Notices
from tests.namesrv_core.server.test_name_server import Recorder
from tests.support.running import listening, on_a_loop, until


def change(*recipients: str) -> MinBrokerIdChanged:
    return MinBrokerIdChanged("a", 1, "127.0.0.1:2", "127.0.0.1:1", None, recipients)


@on_a_loop
async def test_each_recipient_is_told_once_and_hung_up_on() -> None:
    one, two = Recorder(), Recorder()
    notices = Notices()
    async with listening(one) as first, listening(two) as second:
        notices.send(change(f"127.0.0.1:{first.port}", f"127.0.0.1:{second.port}"))
        await until(lambda: one.told and two.told and not notices._under_way)
    for recorder in (one, two):
        (told,) = recorder.told
        assert isinstance(told, Command)
        assert told.ext == {
            "minBrokerId": "1",
            "minBrokerAddr": "127.0.0.1:2",
            "offlineBrokerAddr": "127.0.0.1:1",
        }


@pytest.mark.parametrize("addr", ["127.0.0.1:1", "nowhere", "127.0.0.1:99999"])
def test_a_recipient_that_cannot_be_reached_is_named_in_the_log(
    caplog: pytest.LogCaptureFixture, addr: str
) -> None:
    @on_a_loop
    async def test() -> None:
        notices = Notices()
        notices.send(change(addr))
        await until(lambda: not notices._under_way)

    with caplog.at_level(logging.WARNING, "namesrv"):
        test()
    assert f"could not tell {addr}" in caplog.text


@on_a_loop
async def test_what_is_under_way_is_given_up_at_the_stop() -> None:
    notices = Notices()
    notices.send(change("192.0.2.1:1"))
    notices.stop()
    await until(lambda: not notices._under_way)
