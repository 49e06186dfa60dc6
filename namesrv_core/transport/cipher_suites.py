"""TLS versions and cipher suites: the names in settings, and contexts restricted to them."""

import ssl
from typing import NamedTuple

from namesrv_core.errors import BadSettings

_VERSIONS_BY_NAME = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_TLS13_SUITES = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
"""The suites of TLS 1.3. Python's `ssl` can enable only all of them or none."""


class CipherOffer(NamedTuple):
    """Allowed versions ("TLSv1.2", "TLSv1.3") and ciphers, by their Java or OpenSSL names. () allows any."""

    tls_versions: tuple[str, ...] = ()
    cipher_names: tuple[str, ...] = ()


ANY_CIPHERS = CipherOffer()


def restrict_context(ssl_context: ssl.SSLContext, cipher_offer: CipherOffer) -> None:
    """Restrict a context to an offer. Raises BadSettings for unknown names and impossible combinations."""
    versions = set(cipher_offer.tls_versions or _VERSIONS_BY_NAME)
    if cipher_offer.cipher_names:
        older = [name for name in cipher_offer.cipher_names if name not in _TLS13_SUITES]
        tls13_count = len(cipher_offer.cipher_names) - len(older)
        if 0 < tls13_count < len(_TLS13_SUITES) and "TLSv1.3" in versions:
            raise BadSettings(
                f"tls.ciphers names some suites of TLS 1.3: name all of {', '.join(_TLS13_SUITES)},"
                " or none of them for TLS 1.2 only"
            )
        if older:
            ssl_context.set_ciphers(":".join(map(_require_cipher, older)))
        else:
            versions.discard("TLSv1.2")
        if not tls13_count:
            versions.discard("TLSv1.3")
    if not versions:
        raise BadSettings("no cipher of tls.ciphers fits the versions in tls.protocols")
    sorted_versions = [_VERSIONS_BY_NAME[name] for name in sorted(versions)]
    ssl_context.minimum_version, ssl_context.maximum_version = sorted_versions[0], sorted_versions[-1]


def _require_cipher(cipher_name: str) -> str:
    """OpenSSL's name of a cipher suite. Raises BadSettings if OpenSSL does not know it."""
    openssl_cipher = to_openssl_name(cipher_name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.set_ciphers(openssl_cipher)
    except ssl.SSLError:
        raise BadSettings(f'unknown cipher suite "{cipher_name}" in tls.ciphers') from None
    # OpenSSL also accepts groups such as HIGH and exclusions, which Java does not know.
    cipher = next((cipher for cipher in context.get_ciphers() if cipher["name"] == openssl_cipher), None)
    if cipher is None:
        raise BadSettings(f'"{cipher_name}" in tls.ciphers is not a cipher suite: name each suite')
    if cipher["strength_bits"] == 0 or cipher["auth"] == "auth-null":
        raise BadSettings(f'cipher suite "{cipher_name}" in tls.ciphers does not encrypt: remove it')
    return openssl_cipher


def to_openssl_name(java_name: str) -> str:
    """Convert "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256" to "ECDHE-RSA-AES128-SHA256". Keep other names."""
    key_exchange, separator, part = java_name.removeprefix("TLS_").removeprefix("SSL_").partition("_WITH_")
    if not separator:
        return java_name
    for key_size in ("128", "256"):
        part = part.replace(f"_{key_size}", key_size)
    part = part.replace("_CBC_", "_").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    # OpenSSL's names omit a plain RSA key exchange.
    return f"{'' if key_exchange == 'RSA' else f'{key_exchange}_'}{part}".replace("_", "-")
