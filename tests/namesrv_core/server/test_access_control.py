"""The policy in force follows its file; refusals are told in few lines."""

import asyncio
import logging
import os
import ssl
from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.protocol import codec
from namesrv_core.protocol.acl_signature import sign_command
from namesrv_core.protocol.command import build_request
from namesrv_core.server import access_control
from namesrv_core.server.access_control import AccessControl, RefusalLog
from namesrv_core.state.access_policy import AccessRole, PeerIdentity
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.refusals import RefusalKind, RefusalReason, RefusalTally, RequestRefusal
from namesrv_core.state.tls_settings import TlsSettings
from tests.support.certificates import Authority
from tests.support.name_servers import Peer, make_settings, start_name_server, wait_until

NOW = 1_700_000_000_000
READ, ADMIN = "everybody: read\n", "everybody: admin\n"


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever level another test has left."""
    caplog.set_level(logging.WARNING, "namesrv")


def guarded(
    home: Path, text: str | None = READ, **more: object
) -> tuple[NameServerState, AccessControl, Path]:
    path = home / "credentials.yaml"
    if text is not None:
        path.write_text(text)
        path.chmod(0o600)
    fields = {"credentialsFile": str(path) if text is not None else None, **more}
    state = NameServerState(make_settings(home, **fields), KvConfig(), NOW)
    return state, AccessControl(state), path


def role(state: NameServerState) -> AccessRole | None:
    """What everybody may."""
    return None if state.policy is None else state.policy.grants_without_key(PeerIdentity("10.0.0.1"))[0].role


def looks(guarding: AccessControl, times: int = 2) -> None:
    for second in range(times):
        guarding.handle_tick(NOW + second * 1000)


def test_it_is_off_unless_something_asks_for_it(tmp_path: Path) -> None:
    state, guarding, _ = guarded(tmp_path, None)
    assert (state.policy, guarding.is_on) == (None, False)
    assert guarding.startup_warnings() == [
        "accepts unauthenticated requests, like Apache's name server: every client can change everything, "
        "also unencrypted; set --credentials and tls.server.mode, see nsadmin guide secure-the-name-server"
    ]
    state.settings.tls = TlsSettings("enforcing")
    assert guarding.startup_warnings() == [
        "accepts unauthenticated requests, like Apache's name server: every client can change everything; "
        "set --credentials, see nsadmin guide secure-the-name-server"
    ]
    guarding.reload_credentials()
    looks(guarding)
    assert state.policy is None


@pytest.mark.parametrize("switch", ["readOnly", "noRemoteConfig"])
def test_a_switch_is_a_policy_too(tmp_path: Path, switch: str) -> None:
    state, guarding, _ = guarded(tmp_path, None, **{switch: True})
    assert (guarding.is_on, role(state)) == (True, AccessRole.ADMIN)
    assert state.policy is not None
    assert (state.policy.read_only, state.policy.no_remote_config) == (
        switch == "readOnly",
        switch == "noRemoteConfig",
    )
    may = "register brokers" if switch == "readOnly" else "change everything"
    assert f"every client can {may}" in guarding.startup_warnings()[0]


@pytest.mark.parametrize(
    ("everybody", "may"), [("admin", "change everything"), ("broker", "register brokers"), ("read", None)]
)
def test_a_file_that_lets_everybody_in_is_warned_of(tmp_path: Path, everybody: str, may: str | None) -> None:
    _, guarding, _ = guarded(tmp_path, f"everybody: {everybody}\n")
    [warning] = guarding.startup_warnings()
    assert ("accepts unauthenticated requests" in warning) == (may is not None)
    assert may is None or f"every client can {may}" in warning


def test_switches_stay_when_the_file_is_read_again(tmp_path: Path) -> None:
    state, guarding, path = guarded(tmp_path, readOnly=True)
    path.write_text(ADMIN)
    guarding.reload_credentials()
    assert state.policy is not None
    assert (role(state), state.policy.read_only) == (AccessRole.ADMIN, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "empty file: add accounts"), ("everybody: [", "invalid YAML"), ("x: 1", "unknown field")],
)
def test_a_file_that_cannot_be_used_stops_the_start(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadSettings, match=said) as wrong:
        guarded(tmp_path, text)
    assert str(tmp_path / "credentials.yaml") in str(wrong.value)


def test_a_file_that_everybody_may_read_is_warned_of(tmp_path: Path) -> None:
    _, guarding, path = guarded(tmp_path)
    assert guarding.startup_warnings() == [
        "accepts unencrypted connections: set tls.server.mode=enforcing, "
        "see nsadmin guide secure-the-name-server"
    ]
    guarding._server_state.settings.tls = TlsSettings("enforcing")
    assert guarding.startup_warnings() == []
    path.chmod(0o644)
    assert guarding.startup_warnings() == [
        f'every user of this machine can read the secrets in "{path}": run `chmod 600 {path}`'
    ]


def test_rules_about_certificates_that_nobody_is_asked_for_are_warned_of(tmp_path: Path) -> None:
    text = "certificates: [{subject: CN=ops, role: admin}]\n"
    _, guarding, path = guarded(tmp_path, text)
    assert guarding.startup_warnings() == [
        f'the certificate rules in "{path}" have no effect: set tls.server.need.client.auth=require'
    ]
    _, guarding, _ = guarded(tmp_path, text, tls=TlsSettings("enforcing", client_auth="optional"))
    assert guarding.startup_warnings() == []


def test_a_changed_file_is_read_once_it_stands_still(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state, guarding, path = guarded(tmp_path)
    path.write_text(ADMIN)
    looks(guarding, 1)
    assert role(state) == AccessRole.READ
    path.write_text(ADMIN + "# still being written")
    looks(guarding, 1)
    assert role(state) == AccessRole.READ
    looks(guarding, 1)
    assert (role(state), guarding.reload_count) == (AccessRole.ADMIN, 1)
    assert f"reloaded {path}: accounts: 0, rules about networks and certificates: 0" in caplog.text
    looks(guarding, 5)
    assert guarding.reload_count == 1


def test_one_put_in_its_place_and_one_behind_a_link_are_seen(tmp_path: Path) -> None:
    (tmp_path / "first").write_text(READ)
    (tmp_path / "second").write_text(ADMIN)
    link = tmp_path / "credentials.yaml"
    link.symlink_to("first")
    state, guarding, path = guarded(tmp_path, READ)
    (tmp_path / "new").symlink_to("second")
    os.replace(tmp_path / "new", path)
    looks(guarding)
    assert role(state) == AccessRole.ADMIN


def test_one_that_was_only_touched_is_no_news(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, guarding, path = guarded(tmp_path)
    os.utime(path, (1, 1))
    looks(guarding)
    assert (guarding.reload_count, caplog.text) == (0, "")


@pytest.mark.parametrize("spoil", ["everybody: [", "everybody: all", "", None])
def test_a_bad_new_file_keeps_the_old_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: str | None
) -> None:
    state, guarding, path = guarded(tmp_path)
    before = state.policy
    path.unlink() if spoil is None else path.write_text(spoil)
    looks(guarding, 5)
    guarding.reload_credentials()
    assert state.policy is before
    assert caplog.text.count("the credentials read before stay in force") == 1
    assert (guarding.reload_count, guarding.failed_reload_count) == (0, 2)
    path.write_text(ADMIN)
    looks(guarding)
    assert (role(state), guarding.reload_count) == (AccessRole.ADMIN, 1)


def test_refusals_are_told_at_the_next_tick_and_at_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state, guarding, _ = guarded(tmp_path)
    state.refusals.record_refusal(
        RequestRefusal(RefusalReason.BAD_SIGNATURE, "no", "ops\n2026 forged"), 318, "10.0.0.5"
    )
    guarding.handle_tick(NOW)
    state.refusals.record_refusal(RequestRefusal(RefusalReason.UNSIGNED, "no"), 9999, "10.0.0.5")
    guarding.log_refusals(NOW)
    assert [record.getMessage() for record in caplog.records] == [
        "refused UPDATE_NAMESRV_CONFIG from 10.0.0.5 (badSignature, accessKey 'ops\\n2026 forged')",
        "refused request 9999 from 10.0.0.5 (unsigned)",
    ]
    assert caplog.records[0].levelno == logging.WARNING


def notices(*hosts: str, times: int = 1) -> dict[RefusalKind, RefusalTally]:
    return {RefusalKind(RefusalReason.UNSIGNED, 103, host): RefusalTally(times, None) for host in hosts}


def test_what_repeats_itself_is_told_once_a_minute() -> None:
    lines = RefusalLog()
    assert lines.build_lines(notices("a", times=3), 0, NOW) == [
        "refused REGISTER_BROKER from a (unsigned, 3 times)"
    ]
    for second in range(1, 60):
        assert lines.build_lines(notices("a", times=1000), 0, NOW + second * 1000) == []
    assert lines.build_lines(notices("a"), 0, NOW + 60_000) == [
        "refused 59000 more such requests in the past minute",
        "refused REGISTER_BROKER from a (unsigned)",
    ]
    assert lines.build_lines({}, 0, NOW + 120_000) == []


def test_peers_without_end_make_no_lines_without_end() -> None:
    lines = RefusalLog()
    hosts = [f"10.0.0.{number}" for number in range(200)]
    assert len(lines.build_lines(notices(*hosts), 1000, NOW)) == 20
    assert lines.build_lines({}, 0, NOW + 60_000) == ["refused 1180 more such requests in the past minute"]


FILE = """
accounts:
  - {accessKey: ops, secretKey: a secret of ours, role: admin}
networks:
  - {network: 127.0.0.0/8, role: read}
"""


async def test_on_a_socket_the_address_and_the_key_count(tmp_path: Path) -> None:
    path = tmp_path / "credentials.yaml"
    path.write_text(FILE)
    async with (
        start_name_server(tmp_path, credentialsFile=str(path)) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        assert (await peer.send_request(106)).code == 0
        assert (await peer.send_request(319)).code == 16
        peer.send(codec.encode_command(sign_command(build_request(319), "ops", "a secret of ours")))
        answer = await peer.receive()
        assert answer is not None
        assert answer.code == 0
        assert f"credentialsFile={path}\n".encode() in answer.body
        assert server.state.refusals.counts_by_reason[RefusalReason.UNSIGNED] == 1
        path.write_text(FILE.replace("127.0.0.0/8, role: read", "10.0.0.0/8, role: read"))
        server.reload_files()
        assert (await peer.send_request(106)).code == 16


async def test_a_server_looks_at_its_file_by_itself(tmp_path: Path) -> None:
    path, before = tmp_path / "credentials.yaml", access_control.TICK_SECONDS
    path.write_text(READ)
    access_control.TICK_SECONDS = 0.01
    try:
        async with start_name_server(tmp_path, credentialsFile=str(path)) as server:
            path.write_text(ADMIN)
            await wait_until(lambda: role(server.state) == AccessRole.ADMIN)
            await asyncio.sleep(0)
    finally:
        access_control.TICK_SECONDS = before


async def test_a_certificate_that_the_trust_store_vouches_for_says_who_asks(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ca")
    server_pair, ops, other = (authority.issue(name) for name in ("server", "ops", "other"))
    path = tmp_path / "credentials.yaml"
    path.write_text("everybody: read\ncertificates:\n  - {subject: CN=ops, role: admin}\n")
    tls = TlsSettings(
        "permissive", str(server_pair.cert), str(server_pair.key), None, "optional", str(authority.ca)
    )
    async with start_name_server(tmp_path, credentialsFile=str(path), tls=tls) as server:
        for pair, code in ((ops, 0), (other, 16), (None, 16)):
            context = ssl.create_default_context(cafile=str(authority.ca))
            if pair is not None:
                context.load_cert_chain(*pair)
            async with Peer.connect(server.namesrv_addr, context) as peer:
                assert (await peer.send_request(106)).code == 0
                assert (await peer.send_request(319)).code == code
        async with Peer.connect(server.namesrv_addr) as peer:
            assert (await peer.send_request(319)).code == 16
