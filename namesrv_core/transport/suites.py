"""Suites: the versions and ciphers of TLS that settings name, and contexts that speak no others."""

import ssl
from typing import NamedTuple

from namesrv_core.errors import BadSettings

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_NEWEST = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
"""Those of TLS 1.3; Python's `ssl` has all of them or none."""


class Offer(NamedTuple):
    """`protocols` are of "TLSv1.2" and "TLSv1.3", `ciphers` named as Java or as OpenSSL does; () is any."""

    protocols: tuple[str, ...] = ()
    ciphers: tuple[str, ...] = ()


ANY = Offer()


def restrict(context: ssl.SSLContext, offer: Offer) -> None:
    """Let a context speak nothing else. BadSettings for what there is not, or cannot be had like that."""
    versions = set(offer.protocols or _VERSIONS)
    if offer.ciphers:
        older = [name for name in offer.ciphers if name not in _NEWEST]
        newest = len(offer.ciphers) - len(older)
        if 0 < newest < len(_NEWEST) and "TLSv1.3" in versions:
            raise BadSettings(
                f"tls.ciphers: TLS 1.3 comes with all of {', '.join(_NEWEST)}:"
                " name all of them, or none of them for TLS 1.2 alone"
            )
        if older:
            context.set_ciphers(":".join(map(_known, older)))
        else:
            versions.discard("TLSv1.2")
        if not newest:
            versions.discard("TLSv1.3")
    if not versions:
        raise BadSettings("tls.ciphers has none for the versions in tls.protocols")
    kept = [_VERSIONS[name] for name in sorted(versions)]
    context.minimum_version, context.maximum_version = kept[0], kept[-1]


def _known(name: str) -> str:
    """OpenSSL's name of a cipher suite; BadSettings where it has none."""
    found = openssl_name(name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.set_ciphers(found)
    except ssl.SSLError:
        raise BadSettings(f"tls.ciphers: there is no {name!r}") from None
    # What is a word for many of them, or an order to leave some out, is nothing that Java knows.
    cipher = next((cipher for cipher in context.get_ciphers() if cipher["name"] == found), None)
    if cipher is None:
        raise BadSettings(f"tls.ciphers: {name!r} is no cipher suite")
    if cipher["strength_bits"] == 0 or cipher["auth"] == "auth-null":
        raise BadSettings(f"tls.ciphers: {name!r} protects nothing")
    return found


def openssl_name(name: str) -> str:
    """ "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256" is "ECDHE-RSA-AES128-SHA256"; what is none stays as it is."""
    keys, found, cipher = name.removeprefix("TLS_").removeprefix("SSL_").partition("_WITH_")
    if not found:
        return name
    for size in ("128", "256"):
        cipher = cipher.replace(f"_{size}", size)
    cipher = cipher.replace("_CBC_", "_").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    # A key exchange by RSA alone goes without saying.
    return f"{'' if keys == 'RSA' else f'{keys}_'}{cipher}".replace("_", "-")
