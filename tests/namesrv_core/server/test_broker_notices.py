"""Notices go out in the background."""

import logging
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.events import MinBrokerIdChanged
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.server import tls_certificates
from namesrv_core.server.broker_notices import BrokerNotices
from namesrv_core.state.tls_settings import OutgoingTls, TlsSettings
from namesrv_core.transport import tls_server
from namesrv_core.transport.protocol_detection import TlsPolicy
from namesrv_core.transport.tls_server import TlsServerFiles
from tests.namesrv_core.server.test_name_server import Recorder
from tests.support.certificates import Authority
from tests.support.name_servers import open_listener, run_on_loop, wait_until


def change(*recipients: str) -> MinBrokerIdChanged:
    return MinBrokerIdChanged("a", 1, "127.0.0.1:2", "127.0.0.1:1", None, recipients)


async def test_each_recipient_is_told_once_and_hung_up_on() -> None:
    one, two = Recorder(), Recorder()
    notices = BrokerNotices()
    async with open_listener(one) as first, open_listener(two) as second:
        notices.send_min_id_notice(change(f"127.0.0.1:{first.bound_port}", f"127.0.0.1:{second.bound_port}"))
        await wait_until(lambda: one.told and two.told and not notices._tasks)
    for recorder in (one, two):
        (request,) = recorder.told
        assert isinstance(request, RemotingCommand)
        assert request.ext == {
            "minBrokerId": "1",
            "minBrokerAddr": "127.0.0.1:2",
            "offlineBrokerAddr": "127.0.0.1:1",
        }


@pytest.mark.parametrize("addr", ["127.0.0.1:1", "nowhere", "127.0.0.1:99999"])
def test_a_recipient_that_cannot_be_reached_is_named_in_the_log(
    caplog: pytest.LogCaptureFixture, addr: str
) -> None:
    @run_on_loop
    async def test() -> None:
        notices = BrokerNotices()
        notices.send_min_id_notice(change(addr))
        await wait_until(lambda: not notices._tasks)

    with caplog.at_level(logging.WARNING, "namesrv"):
        test()
    assert f"could not notify {addr}" in caplog.text


async def test_what_is_under_way_is_given_up_at_the_stop() -> None:
    notices = BrokerNotices()
    notices.send_min_id_notice(change("192.0.2.1:1"))
    notices.stop()
    await wait_until(lambda: not notices._tasks)


@pytest.mark.parametrize(
    ("shown", "said"),
    [("own", None), ("", "presented no certificate"), ("stranger", "presented an invalid certificate")],
)
def test_brokers_that_speak_nothing_but_tls_are_told_through_it(
    tmp_path: Path, shown: str, said: str | None
) -> None:
    authority, other = Authority(tmp_path / "ca"), Authority(tmp_path / "other", "another CA")
    broker = authority.issue("broker", "DNS:elsewhere")
    own = (other if shown == "stranger" else authority).issue("n")
    refused: list[str] = []
    files = TlsServerFiles(*broker, client_auth="require", trust_file=authority.ca)
    terms = TlsPolicy(
        tls_server.build_server_context(files), True, None, lambda peer, reason: refused.append(reason)
    )
    pair = (str(own.cert), str(own.key)) if shown else (None, None)
    tls = tls_certificates.build_outgoing_context(
        TlsSettings(outgoing=OutgoingTls(True, str(authority.ca), *pair))
    )

    @run_on_loop
    async def run() -> None:
        recorder, notices = Recorder(), BrokerNotices(tls)
        async with open_listener(recorder, terms=terms) as listener:
            notices.send_min_id_notice(change(f"127.0.0.1:{listener.bound_port}"))
            await wait_until(lambda: not notices._tasks)
            await wait_until(lambda: recorder.told or refused)
        assert bool(recorder.told) == (said is None)

    run()
    assert [reason.startswith(said or "") for reason in refused] == [True] * (said is not None)


def test_a_broker_whose_certificate_nobody_trusts_is_not_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority, other = Authority(tmp_path / "ca"), Authority(tmp_path / "other", "another CA")
    terms = TlsPolicy(tls_server.build_server_context(TlsServerFiles(*other.issue("broker"))))
    tls = tls_certificates.build_outgoing_context(TlsSettings(outgoing=OutgoingTls(True, str(authority.ca))))

    @run_on_loop
    async def run() -> None:
        recorder, notices = Recorder(), BrokerNotices(tls)
        async with open_listener(recorder, terms=terms) as listener:
            notices.send_min_id_notice(change(f"127.0.0.1:{listener.bound_port}"))
            await wait_until(lambda: not notices._tasks)
            assert recorder.told == []

    with caplog.at_level(logging.WARNING, "namesrv"):
        run()
    assert "certificate verify failed" in caplog.text


def test_plain_text_unless_tls_is_asked_for_and_a_file_that_is_not_there_ends_the_start() -> None:
    assert tls_certificates.build_outgoing_context(TlsSettings()) is None
    with pytest.raises(BadSettings, match="cannot read the TLS"):
        tls_certificates.build_outgoing_context(
            TlsSettings(outgoing=OutgoingTls(True, "/nonexistent/ca.pem"))
        )
