"""Versions and ciphers that a context is left with, and names of either kind."""

import re
import shutil
import ssl
import subprocess

import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.transport.cipher_suites import CipherOffer, restrict_context, to_openssl_name

TLS_1_2, TLS_1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
NEWEST = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
OLDER = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"


def restricted(*protocols: str, ciphers: tuple[str, ...] = ()) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    restrict_context(context, CipherOffer(protocols, ciphers))
    return context


def older(context: ssl.SSLContext) -> list[str]:
    """What it offers where TLS 1.2 is spoken."""
    return [cipher["name"] for cipher in context.get_ciphers() if cipher["protocol"] != "TLSv1.3"]


@pytest.mark.parametrize(
    ("protocols", "versions"),
    [
        ((), (TLS_1_2, TLS_1_3)),
        (("TLSv1.3", "TLSv1.2"), (TLS_1_2, TLS_1_3)),
        (("TLSv1.2",), (TLS_1_2, TLS_1_2)),
        (("TLSv1.3",), (TLS_1_3, TLS_1_3)),
    ],
)
def test_no_other_version_is_spoken(
    protocols: tuple[str, ...], versions: tuple[ssl.TLSVersion, ssl.TLSVersion]
) -> None:
    context = restricted(*protocols)
    assert (context.minimum_version, context.maximum_version) == versions
    assert older(context) == older(restricted())


def test_ciphers_are_named_as_java_or_as_openssl_names_them() -> None:
    for name in (OLDER, "ECDHE-RSA-AES128-GCM-SHA256"):
        context = restricted(ciphers=(name,))
        assert older(context) == ["ECDHE-RSA-AES128-GCM-SHA256"]
        assert context.maximum_version == TLS_1_2
    both = restricted(ciphers=(*NEWEST, OLDER))
    assert (both.minimum_version, both.maximum_version) == (TLS_1_2, TLS_1_3)
    assert older(both) == ["ECDHE-RSA-AES128-GCM-SHA256"]
    assert restricted(ciphers=NEWEST).minimum_version == TLS_1_3


@pytest.mark.parametrize(
    ("protocols", "ciphers", "said"),
    [
        ((), ("TLS_NO_WITH_SUCH_CIPHER",), 'unknown cipher suite "TLS_NO_WITH_SUCH_CIPHER"'),
        ((), ("HIGH",), '"HIGH" in tls.ciphers is not a cipher suite'),
        ((), ("ECDHE-RSA-AES128-GCM-SHA256:ALL",), "is not a cipher suite"),
        ((), ("TLS_DH_anon_WITH_AES_128_GCM_SHA256",), "unknown cipher suite"),
        ((), ("NULL-SHA256",), 'cipher suite "NULL-SHA256" in tls.ciphers does not encrypt'),
        ((), NEWEST[:1], "names some suites of TLS 1.3: name all of TLS_AES_128_GCM_SHA256, "),
        (("TLSv1.3",), (OLDER,), "no cipher of tls.ciphers fits the versions in tls.protocols"),
        (("TLSv1.2",), NEWEST, "no cipher of tls.ciphers fits the versions in tls.protocols"),
    ],
)
def test_what_cannot_be_had_is_said(protocols: tuple[str, ...], ciphers: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadSettings, match=r"tls\.ciphers") as caught:
        restricted(*protocols, ciphers=ciphers)
    assert said in str(caught.value)


def test_where_tls_1_3_is_not_spoken_one_of_its_suites_more_or_less_says_nothing() -> None:
    context = restricted("TLSv1.2", ciphers=(OLDER, NEWEST[0]))
    assert (context.maximum_version, older(context)) == (TLS_1_2, ["ECDHE-RSA-AES128-GCM-SHA256"])


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl not found on PATH")
def test_names_are_those_that_openssl_has() -> None:
    """Of what Java has by default: no key is agreed on by PSK or SRP, nobody is anonymous."""
    listed = subprocess.run(
        ["openssl", "ciphers", "-stdname", "ALL"], capture_output=True, text=True, check=True
    ).stdout
    names = dict(line.split()[:3:2] for line in listed.splitlines())
    common = {
        name: own
        for name, own in names.items()
        if re.fullmatch(
            r"TLS_(EC)?DHE?_?(RSA|ECDSA)?_WITH_(AES|CHACHA)\w+(?<!CCM_8)|TLS_RSA_WITH_AES\w+(?<!CCM_8)", name
        )
    }
    assert len(common) > 20
    assert {name: to_openssl_name(name) for name in common} == common
    assert to_openssl_name("ECDHE-RSA-AES128-GCM-SHA256") == "ECDHE-RSA-AES128-GCM-SHA256"
    assert to_openssl_name("SSL_RSA_WITH_AES_128_CBC_SHA") == "AES128-SHA"
