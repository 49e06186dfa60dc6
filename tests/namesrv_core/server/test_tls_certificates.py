"""Certificates of a running server: renewed by content, in pairs, without a dropped connection."""

import logging
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.server import tls_certificates
from namesrv_core.server.tls_certificates import TlsCertificates
from namesrv_core.state.tls_settings import OutgoingTls, TlsSettings
from tests.support.certificates import Authority, CertificatePair
from tests.support.name_servers import Peer, run_on_loop, start_name_server, wait_until


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def first_pair(authority: Authority) -> CertificatePair:
    return authority.issue("one")


@pytest.fixture(scope="module")
def second_pair(authority: Authority) -> CertificatePair:
    return authority.issue("two")


@pytest.fixture(autouse=True)
def frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_certificates, "CHECK_SECONDS", 0.02)


def put(folder: Path, pair: CertificatePair, key: CertificatePair | None = None) -> TlsSettings:
    """A pair under the names that a server was told, which it is to offer."""
    cert, private = folder / "tls.pem", folder / "tls.key"
    cert.write_bytes(pair.cert.read_bytes())
    private.write_bytes((key or pair).key.read_bytes())
    return TlsSettings("permissive", str(cert), str(private))


def client(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.ca))


async def shown(address: str, authority: Authority) -> str:
    """Whose certificate a new connection is shown."""
    async with Peer.connect(address, client(authority)) as peer:
        assert (await peer.send_request(106)).code == 0
        certificate = peer._writer.get_extra_info("peercert")
        return str(dict(part[0] for part in certificate["subject"])["commonName"])


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.message.startswith("TLS: ")]


def test_a_new_pair_is_shown_to_new_connections_while_old_ones_go_on(
    tmp_path: Path,
    authority: Authority,
    first_pair: CertificatePair,
    second_pair: CertificatePair,
    caplog: pytest.LogCaptureFixture,
) -> None:
    @run_on_loop
    async def run() -> None:
        settings = put(tmp_path, first_pair)
        async with start_name_server(tmp_path, tls=settings) as server:
            assert await shown(server.namesrv_addr, authority) == "one"
            async with Peer.connect(server.namesrv_addr, client(authority)) as old:
                await old.send_request(106)
                put(tmp_path, second_pair)
                await wait_until(lambda: '"two"' in caplog.text)
                assert await shown(server.namesrv_addr, authority) == "two"
                assert (await old.send_request(106)).code == 0

    with caplog.at_level(logging.INFO, "namesrv"):
        run()
    assert len(said(caplog)) == 2
    assert (
        f'new connections use the certificate of "one" in {tmp_path}/tls.pem, valid until 20' in caplog.text
    )


def test_half_a_pair_and_a_bad_one_keep_what_was_there_and_say_so_once(
    tmp_path: Path,
    authority: Authority,
    first_pair: CertificatePair,
    second_pair: CertificatePair,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def settled(text: str) -> bool:
        return any(text in line for line in said(caplog))

    @run_on_loop
    async def run() -> None:
        settings = put(tmp_path, first_pair)
        async with start_name_server(tmp_path, tls=settings) as server:
            put(tmp_path, second_pair, key=first_pair)
            await wait_until(lambda: settled("does not match the certificate"))
            assert await shown(server.namesrv_addr, authority) == "one"
            (tmp_path / "tls.pem").unlink()
            await wait_until(lambda: settled("cannot read the TLS certificate file"))
            assert await shown(server.namesrv_addr, authority) == "one"
            (tmp_path / "tls.pem").write_text("-----BEGIN CERTIFICATE-----\nhalf")
            await wait_until(lambda: settled("is damaged"))
            assert await shown(server.namesrv_addr, authority) == "one"
            put(tmp_path, second_pair)
            await wait_until(lambda: settled('"two"'))
            assert await shown(server.namesrv_addr, authority) == "two"
            put(tmp_path, first_pair, key=second_pair)
            await wait_until(lambda: len(said(caplog)) == 6)
            put(tmp_path, first_pair)
            await wait_until(lambda: len(said(caplog)) == 7)
            assert await shown(server.namesrv_addr, authority) == "one"

    with caplog.at_level(logging.INFO, "namesrv"):
        run()
    errors = [line for line in said(caplog) if "new connections" not in line]
    assert len(errors) == 4
    assert all(line.endswith("; the previous certificate stays in use") for line in errors)


def test_a_file_that_is_touched_is_no_change(
    tmp_path: Path, first_pair: CertificatePair, caplog: pytest.LogCaptureFixture
) -> None:
    held = TlsCertificates(put(tmp_path, first_pair))
    assert held.tls_policy is not None
    before = held.tls_policy.ssl_context

    @run_on_loop
    async def run() -> None:
        for _ in range(4):
            put(tmp_path, first_pair)
            held.start_file_check()
            assert held._check_task is not None
            await held._check_task
        held.stop()

    run()
    assert held.tls_policy.ssl_context is before


def test_a_file_that_is_still_being_written_is_not_taken(
    tmp_path: Path, first_pair: CertificatePair, second_pair: CertificatePair
) -> None:
    held = TlsCertificates(put(tmp_path, first_pair))
    assert held.tls_policy is not None
    contexts = [held.tls_policy.ssl_context]

    @run_on_loop
    async def run() -> None:
        put(tmp_path, second_pair)
        for _ in range(2):
            held.start_file_check()
            held.start_file_check()
            assert held._check_task is not None
            await held._check_task
            assert held.tls_policy is not None
            contexts.append(held.tls_policy.ssl_context)

    run()
    assert contexts[0] is contexts[1] is not contexts[2]


def test_a_signal_takes_what_is_there_at_once_and_says_so_in_any_case(
    tmp_path: Path,
    first_pair: CertificatePair,
    second_pair: CertificatePair,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "namesrv"):
        held = TlsCertificates(put(tmp_path, first_pair))
        held.reload_files()
        put(tmp_path, second_pair)
        held.reload_files()
        put(tmp_path, first_pair, key=second_pair)
        held.reload_files()
        held.reload_files()
    messages = [line.partition(" in ")[0].partition(' key "')[0] for line in said(caplog)]
    assert messages == [
        'TLS: new connections use the certificate of "one"',
        "TLS: the certificate has not changed",
        'TLS: new connections use the certificate of "two"',
        "TLS: the server's",
        "TLS: the server's",
    ]


def test_whom_to_trust_is_renewed_too(
    tmp_path: Path,
    authority: Authority,
    first_pair: CertificatePair,
    second_pair: CertificatePair,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other = Authority(tmp_path / "other", "another CA")
    trust = tmp_path / "trust.pem"
    trust.write_bytes(other.ca.read_bytes())
    mine = client(authority)
    mine.load_cert_chain(*second_pair)

    @run_on_loop
    async def run() -> None:
        pair = put(tmp_path, first_pair)
        tls = TlsSettings("enforcing", pair.cert_path, pair.key_path, None, "require", str(trust))
        async with start_name_server(tmp_path, tls=tls) as server:
            with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
                async with Peer.connect(server.namesrv_addr, mine) as stranger:
                    await stranger.send_request(106)
            trust.write_bytes(authority.ca.read_bytes())
            await wait_until(lambda: len(said(caplog)) == 2)
            async with Peer.connect(server.namesrv_addr, mine) as known:
                assert (await known.send_request(106)).code == 0

    with caplog.at_level(logging.INFO, "namesrv"):
        run()
    assert "the client presented an invalid certificate: self-signed certificate" in caplog.text


def test_a_start_without_a_usable_pair_ends_where_tls_is_demanded_and_waits_for_it_elsewhere(
    tmp_path: Path,
    authority: Authority,
    first_pair: CertificatePair,
    second_pair: CertificatePair,
    caplog: pytest.LogCaptureFixture,
) -> None:
    pair = put(tmp_path, first_pair, key=second_pair)
    with pytest.raises(BadSettings, match="does not match the certificate"):
        TlsCertificates(TlsSettings("enforcing", pair.cert_path, pair.key_path))

    @run_on_loop
    async def run() -> None:
        async with (
            start_name_server(tmp_path, tls=pair) as server,
            Peer.connect(server.namesrv_addr) as plain,
        ):
            assert (await plain.send_request(106)).code == 0
            with pytest.raises(ConnectionResetError):
                async with Peer.connect(server.namesrv_addr, client(authority)):
                    pass
            put(tmp_path, first_pair)
            await wait_until(lambda: '"one"' in caplog.text)
            assert await shown(server.namesrv_addr, authority) == "one"
            assert (await plain.send_request(106)).code == 0

    with caplog.at_level(logging.INFO, "namesrv"):
        run()
    assert "TLS is not available until you fix this" in caplog.text
    assert "the client requested TLS, but this server has no certificate" in caplog.text


def test_test_mode_and_none_at_all() -> None:
    assert TlsCertificates(TlsSettings("disabled")).tls_policy is None
    permissive = TlsCertificates(TlsSettings())
    assert permissive.tls_policy is not None
    assert permissive.tls_policy.ssl_context is None
    assert permissive.tls_policy.current_context() is permissive.tls_policy.ssl_context
    enforcing = TlsCertificates(TlsSettings("enforcing"))
    assert enforcing.tls_policy is not None
    assert enforcing.tls_policy.ssl_context is not None
    permissive.reload_files()
    permissive.start_file_check()
    permissive.stop()


def test_a_version_that_is_not_wanted_is_spoken_neither_with_a_pair_nor_in_test_mode(
    tmp_path: Path, authority: Authority, first_pair: CertificatePair
) -> None:
    @run_on_loop
    async def test() -> None:
        for tls in (put(tmp_path, first_pair), TlsSettings()):
            newest = replace(tls, protocols=("TLSv1.3",))
            async with start_name_server(tmp_path, tls=newest) as server:
                for version, is_spoken in ((ssl.TLSVersion.TLSv1_3, True), (ssl.TLSVersion.TLSv1_2, False)):
                    careless = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                    careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
                    careless.minimum_version = careless.maximum_version = version
                    if is_spoken:
                        async with Peer.connect(server.namesrv_addr, careless) as peer:
                            assert (await peer.send_request(106)).code == 0
                        continue
                    with pytest.raises(ssl.SSLError):
                        async with Peer.connect(server.namesrv_addr, careless):
                            pass
                assert server.tls_certificates.refused_count == 1

    test()


@pytest.mark.parametrize("mode", ["permissive", "enforcing"])
def test_ciphers_that_there_are_not_end_the_start(
    tmp_path: Path, first_pair: CertificatePair, mode: str
) -> None:
    settings = replace(put(tmp_path, first_pair), mode=mode, ciphers=("TLS_RSA_WITH_NOTHING",))
    with pytest.raises(BadSettings, match='unknown cipher suite "TLS_RSA_WITH_NOTHING"'):
        TlsCertificates(settings)


def test_what_is_told_to_brokers_is_restricted_as_well() -> None:
    outgoing = OutgoingTls(False)
    context = tls_certificates.build_outgoing_context(
        TlsSettings("disabled", outgoing=outgoing, protocols=("TLSv1.2",))
    )
    assert context is not None
    assert context.maximum_version == ssl.TLSVersion.TLSv1_2
