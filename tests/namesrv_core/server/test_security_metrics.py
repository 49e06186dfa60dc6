"""Metrics of what is refused and renewed."""

import logging
from pathlib import Path

import pytest

from namesrv_core.server import tls_certificates
from namesrv_core.server.log import log
from namesrv_core.server.log_writer import LogWriter
from namesrv_core.state.refusals import RefusalReason
from namesrv_core.state.tls_settings import TlsSettings
from tests.support.certificates import Authority
from tests.support.metric_samples import ScrapedSamples
from tests.support.name_servers import Peer, run_on_loop, start_name_server, wait_until


def test_tls_tells_its_handshakes_its_renewals_and_when_its_certificate_expires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_certificates, "CHECK_SECONDS", 60)
    authority = Authority(tmp_path / "ca")
    first, second = authority.issue("first"), authority.issue("second")
    cert, key = tmp_path / "tls.pem", tmp_path / "tls.key"
    cert.write_bytes(first.cert.read_bytes())
    key.write_bytes(first.key.read_bytes())

    @run_on_loop
    async def test() -> None:
        tls = TlsSettings("enforcing", str(cert), str(key))
        async with start_name_server(tmp_path, tls=tls) as server:
            async with Peer.connect(server.namesrv_addr) as plain:
                plain.send(b"\0\0\0\1")
                assert await plain.is_closed()
            async with Peer.connect(server.namesrv_addr) as bad:
                bad.send(b"\x16\x03\x01\x00\x05hello")
                assert await bad.is_closed()
            await wait_until(lambda: not server.open_streams)
            scraped = ScrapedSamples.scrape_server(server)
            assert scraped("tls_handshakes_total") == 1
            assert scraped("tls_refused_total") == 2
            expires = scraped("tls_certificate_expiry_timestamp_seconds") or 0
            assert 0 < expires - server.now_ms() / 1000 < 3 * 24 * 3600
            key.write_bytes(second.key.read_bytes())
            server.reload_files()
            cert.write_bytes(second.cert.read_bytes())
            server.reload_files()
            scraped = ScrapedSamples.scrape_server(server)
            assert scraped("tls_reloads_total", result="failed") == 1
            assert scraped("tls_reloads_total", result="read") == 1

    test()


@run_on_loop
async def test_without_tls_nothing_is_told_of_it(tmp_path: Path) -> None:
    async with start_name_server(tmp_path, tls=TlsSettings("disabled")) as server:
        assert "tls" not in ScrapedSamples.scrape_server(server).text


@run_on_loop
async def test_lines_of_the_log_that_nobody_read_are_counted(tmp_path: Path) -> None:
    writer = LogWriter(lambda text: None, max_waiting_lines=0)
    log.addHandler(writer)
    try:
        writer.emit(logging.LogRecord("x", logging.INFO, "", 0, "lost", None, None))
        async with start_name_server(tmp_path) as server:
            assert (ScrapedSamples.scrape_server(server)("log_lost_lines_total") or 0) >= 1
    finally:
        log.removeHandler(writer)


@run_on_loop
async def test_refusals_are_told_by_reason_and_files_that_could_not_be_used(tmp_path: Path) -> None:
    path = tmp_path / "credentials.yaml"
    path.write_text("everybody: read")
    async with (
        start_name_server(tmp_path, credentialsFile=str(path)) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await peer.send_request(319)
        await peer.send_request(319, {"AccessKey": "nobody", "Signature": "x"})
        path.write_text("everybody: all")
        server.reload_files()
        scraped = ScrapedSamples.scrape_server(server)
    refusals = {
        reason.value: scraped("refused_requests_total", reason=reason.value) for reason in RefusalReason
    }
    assert {reason: count for reason, count in refusals.items() if count} == {"unsigned": 1, "unknownKey": 1}
    assert None not in refusals.values()
    assert scraped("credentials_reloads_total", result="failed") == 1
    assert scraped("credentials_reloads_total", result="read") == 0
