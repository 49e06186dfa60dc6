"""Upstream's TLS keys: what they mean together, and which mistakes end a start."""

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.state.tls_settings import OutgoingTls, TlsSettings

FILES = {"tls.server.certPath": "/c.pem", "tls.server.keyPath": "/k.pem"}
VERIFIED = {**FILES, "tls.server.authClient": "true", "tls.server.trustCertPath": "/ca.pem"}


def test_upstream_s_defaults_take_both_and_show_a_certificate_of_their_own_making() -> None:
    assert TlsSettings.from_items({}) == TlsSettings("permissive", None, None, None, "none", None)


def test_files_that_are_named_are_used() -> None:
    tls = TlsSettings.from_items(
        {**FILES, "tls.server.mode": " Enforcing ", "tls.server.keyPassword": "sesame"}
    )
    assert tls == TlsSettings("enforcing", "/c.pem", "/k.pem", "sesame", "none", None)
    assert TlsSettings.from_items({**FILES, "tls.test.mode.enable": "false"}).cert_path == "/c.pem"


@pytest.mark.parametrize("asked", ["none", "optional", "require"])
def test_clients_are_asked_for_certificates_that_are_verified(asked: str) -> None:
    tls = TlsSettings.from_items({**VERIFIED, "tls.server.need.client.auth": asked})
    assert (tls.client_auth, tls.trust_path) == (asked, "/ca.pem")


def test_a_certificate_that_nobody_verifies_is_not_asked_for() -> None:
    assert TlsSettings.from_items({**FILES, "tls.server.need.client.auth": "optional"}).client_auth == "none"


def test_disabled_is_disabled_whatever_else_there_is() -> None:
    assert TlsSettings.from_items({**VERIFIED, "tls.server.mode": "disabled"}) == TlsSettings("disabled")


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (
            {"tls.server.mode": "enforced"},
            'invalid value "enforced" for tls.server.mode: use one of disabled, permissive',
        ),
        ({"tls.server.need.client.auth": "yes"}, "use one of none, optional, require"),
        (
            {"tls.server.authClient": "on"},
            'invalid value "on" for tls.server.authClient: write true or false',
        ),
        ({"tls.server.certPath": "/c.pem"}, "missing setting tls.server.keyPath"),
        ({"tls.server.keyPath": "/k.pem"}, "missing setting tls.server.certPath"),
        ({"tls.test.mode.enable": "false"}, "missing setting tls.server.certPath"),
        ({**FILES, "tls.test.mode.enable": "true"}, "tls.server.certPath has no effect with"),
        ({"tls.server.need.client.auth": "require"}, "require needs certificates"),
        (
            {**FILES, "tls.server.need.client.auth": "require"},
            "accepts any certificate with tls.server.authClient=false",
        ),
    ],
)
def test_what_would_leave_a_door_open_by_mistake_ends_the_start(items: dict[str, str], said: str) -> None:
    with pytest.raises(BadSettings) as caught:
        TlsSettings.from_items(items)
    assert said in str(caught.value)


def test_versions_and_ciphers_are_lists_in_which_what_is_too_old_does_not_count() -> None:
    tls = TlsSettings.from_items(
        {"tls.protocols": "TLSv1, TLSv1.2,TLSv1.3", "tls.ciphers": "TLS_A_WITH_B, C-D,,C-D", **OUTGOING}
    )
    assert (tls.protocols, tls.ciphers) == (("TLSv1.2", "TLSv1.3"), ("TLS_A_WITH_B", "C-D"))
    assert tls.shown_items()["tls.protocols"] == "TLSv1.2,TLSv1.3"
    assert tls.shown_items()["tls.ciphers"] == "TLS_A_WITH_B,C-D"


@pytest.mark.parametrize("text", ["TLSv1.1", "TLSv1.2,TLSv1.4", "tls1.3", "SSLv3,TLSv1"])
def test_versions_that_there_are_not_end_the_start(text: str) -> None:
    with pytest.raises(BadSettings, match=r"use TLSv1\.2 and TLSv1\.3$"):
        TlsSettings.from_items({"tls.protocols": text})


OUTGOING = {
    "tls.enable": "true",
    "tls.client.authServer": "true",
    "tls.client.trustCertPath": "/ca.pem",
    "tls.client.certPath": "/cc.pem",
    "tls.client.keyPath": "/ck.pem",
    "tls.client.keyPassword": "sesame",
}


@pytest.mark.parametrize("mode", ["disabled", "permissive", "enforcing"])
def test_how_brokers_are_asked_does_not_depend_on_how_the_server_is(mode: str) -> None:
    tls = TlsSettings.from_items({**FILES, **OUTGOING, "tls.server.mode": mode})
    assert tls.outgoing == OutgoingTls(True, "/ca.pem", "/cc.pem", "/ck.pem", "sesame")
    assert "sesame" not in repr(tls)
    assert TlsSettings.from_items({**FILES, "tls.server.mode": mode}).outgoing is None


def test_upstream_s_clients_verify_nobody_unless_told() -> None:
    assert TlsSettings.from_items({"tls.enable": "true"}).outgoing == OutgoingTls(False)
    assert TlsSettings.from_items({**OUTGOING, "tls.test.mode.enable": "true"}).outgoing == OutgoingTls(False)
    with pytest.raises(BadSettings, match=r'^invalid value "yes" for tls\.enable: write true or false'):
        TlsSettings.from_items({"tls.enable": "yes"})


def test_what_is_not_as_by_default_is_shown_without_passwords() -> None:
    assert TlsSettings.from_items({}).shown_items() == {}
    items = {**VERIFIED, **OUTGOING, "tls.server.mode": "enforcing", "tls.server.need.client.auth": "require",
             "tls.server.keyPassword": "sesame"}  # fmt: skip
    assert TlsSettings.from_items(items).shown_items() == {
        "tls.server.mode": "enforcing",
        "tls.server.certPath": "/c.pem",
        "tls.server.keyPath": "/k.pem",
        "tls.server.need.client.auth": "require",
        "tls.server.trustCertPath": "/ca.pem",
        "tls.enable": "true",
    }
