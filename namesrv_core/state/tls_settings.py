"""Upstream's TLS settings (`TlsSystemConfig`): their combined meaning and their contradictions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from namesrv_core.errors import BadSettings

SECRET_KEYS = ("tls.server.keyPassword", "tls.client.keyPassword")
CONFIG_FILE_KEY = "tls.config.file"
MODE_KEY = "tls.server.mode"

_TEST_MODE_KEY, _AUTH_CLIENT_KEY, _CLIENT_AUTH_KEY = (
    "tls.test.mode.enable",
    "tls.server.authClient",
    "tls.server.need.client.auth",
)
_CERT_PATH_KEY, _KEY_PATH_KEY, _TRUST_PATH_KEY = (
    "tls.server.certPath",
    "tls.server.keyPath",
    "tls.server.trustCertPath",
)
_CLIENT_ENABLE_KEY, _AUTH_SERVER_KEY, _CLIENT_TRUST_PATH_KEY = (
    "tls.enable",
    "tls.client.authServer",
    "tls.client.trustCertPath",
)
_CLIENT_CERT_PATH_KEY, _CLIENT_KEY_PATH_KEY = "tls.client.certPath", "tls.client.keyPath"
_PROTOCOLS_KEY, _CIPHERS_KEY = "tls.protocols", "tls.ciphers"
TLS_KEYS = (
    MODE_KEY, CONFIG_FILE_KEY, _TEST_MODE_KEY, _CERT_PATH_KEY, _KEY_PATH_KEY, _AUTH_CLIENT_KEY,
    _TRUST_PATH_KEY, _CLIENT_AUTH_KEY, _CLIENT_ENABLE_KEY, _AUTH_SERVER_KEY, _CLIENT_TRUST_PATH_KEY,
    _CLIENT_CERT_PATH_KEY, _CLIENT_KEY_PATH_KEY, _PROTOCOLS_KEY, _CIPHERS_KEY, *SECRET_KEYS,
)  # fmt: skip
PINNED_KEYS = (MODE_KEY, _CLIENT_ENABLE_KEY)
"""The keys that a TLS file cannot change."""
DEFAULT_CONFIG_FILE = "/etc/rocketmq/tls.properties"
_ALLOWED_VALUES = {
    MODE_KEY: ("disabled", "permissive", "enforcing"),
    _CLIENT_AUTH_KEY: ("none", "optional", "require"),
}
_SUPPORTED_PROTOCOLS = ("TLSv1.2", "TLSv1.3")
_OBSOLETE_PROTOCOLS = ("SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1")
_FLAG_KEYS = (_TEST_MODE_KEY, _AUTH_CLIENT_KEY, _CLIENT_ENABLE_KEY, _AUTH_SERVER_KEY)


class OutgoingTls(NamedTuple):
    """TLS for requests to brokers.

    With `is_verifying` the server verifies brokers against `trust_path`, or against the system's authorities
    if that is None. `cert_path` is the certificate that it presents on request.
    """

    is_verifying: bool
    trust_path: str | None = None
    cert_path: str | None = None
    key_path: str | None = None
    key_password: str | None = None

    def __repr__(self) -> str:
        return f"Outgoing(trust_path={self.trust_path!r}, cert_path={self.cert_path!r}, ...)"


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """TLS for incoming connections.

    Without `cert_path` the server presents a self-signed certificate (test mode). `client_auth` says whether
    it requests client certificates: "none", "optional" or "require". It verifies them against `trust_path`,
    or against the system's authorities if that is None. Empty `protocols` or `ciphers` allow any.
    """

    mode: str = "permissive"
    cert_path: str | None = None
    key_path: str | None = None
    key_password: str | None = field(default=None, repr=False)
    client_auth: str = "none"
    trust_path: str | None = None
    outgoing: OutgoingTls | None = None
    protocols: tuple[str, ...] = ()
    ciphers: tuple[str, ...] = ()

    def shown_items(self) -> dict[str, str]:
        """The values that differ from the defaults, by upstream's keys, without passwords."""
        texts_by_key = {
            MODE_KEY: self.mode,
            _CERT_PATH_KEY: self.cert_path,
            _KEY_PATH_KEY: self.key_path,
            _CLIENT_AUTH_KEY: self.client_auth,
            _TRUST_PATH_KEY: self.trust_path,
            _CLIENT_ENABLE_KEY: "true" if self.outgoing else None,
            _PROTOCOLS_KEY: ",".join(self.protocols) or None,
            _CIPHERS_KEY: ",".join(self.ciphers) or None,
        }
        defaults = (None, "permissive", "none")
        return {key: text for key, text in texts_by_key.items() if text is not None and text not in defaults}

    @classmethod
    def from_items(cls, items: Mapping[str, str]) -> Self:
        """Read texts by upstream's keys. Raises BadSettings for errors that upstream ignores silently."""
        given_items = {key: text.strip() for key, text in items.items() if key in TLS_KEYS and text.strip()}
        for key, allowed in _ALLOWED_VALUES.items():
            given_items[key] = given_items.get(key, allowed[1] if key == MODE_KEY else allowed[0]).lower()
            if given_items[key] not in allowed:
                raise BadSettings(
                    f'invalid value "{given_items[key]}" for {key}: use one of {", ".join(allowed)}'
                )
        for key in _FLAG_KEYS:
            if given_items.get(key, "true").lower() not in ("true", "false"):
                raise BadSettings(f'invalid value "{given_items[key]}" for {key}: write true or false')
        settings = cls._from_server_items(given_items)
        return replace(
            settings,
            outgoing=_read_outgoing(given_items),
            protocols=_read_protocols(given_items),
            ciphers=_split_list(given_items, _CIPHERS_KEY),
        )

    @classmethod
    def _from_server_items(cls, items: Mapping[str, str]) -> Self:
        if items[MODE_KEY] == "disabled":
            return cls("disabled")
        path, key_path = items.get(_CERT_PATH_KEY), items.get(_KEY_PATH_KEY)
        is_test_mode = items.get(_TEST_MODE_KEY, "false" if path or key_path else "true").lower() == "true"
        if is_test_mode:
            return cls._from_test_mode_items(items)
        if path is None or key_path is None:
            key = _KEY_PATH_KEY if path else _CERT_PATH_KEY
            raise BadSettings(f"missing setting {key}: TLS needs a certificate and its key")
        return cls(
            items[MODE_KEY],
            path,
            key_path,
            items.get(SECRET_KEYS[0]),
            cls._read_client_auth(items),
            items.get(_TRUST_PATH_KEY),
        )

    @classmethod
    def _from_test_mode_items(cls, items: Mapping[str, str]) -> Self:
        for key in (_CERT_PATH_KEY, _KEY_PATH_KEY, _TRUST_PATH_KEY):
            if key in items:
                raise BadSettings(
                    f"{key} has no effect with {_TEST_MODE_KEY}=true: set {_TEST_MODE_KEY}=false"
                )
        if items[_CLIENT_AUTH_KEY] == "require":
            raise BadSettings(
                f"{_CLIENT_AUTH_KEY}=require needs certificates: set {_CERT_PATH_KEY}, "
                f"{_KEY_PATH_KEY} and {_TRUST_PATH_KEY}"
            )
        return cls(items[MODE_KEY])

    @staticmethod
    def _read_client_auth(items: Mapping[str, str]) -> str:
        """Whether to request client certificates. A certificate that is not verified proves nothing."""
        if _is_true(items, _AUTH_CLIENT_KEY):
            return items[_CLIENT_AUTH_KEY]
        if items[_CLIENT_AUTH_KEY] == "require":
            raise BadSettings(
                f"{_CLIENT_AUTH_KEY}=require accepts any certificate with {_AUTH_CLIENT_KEY}=false: "
                f"set {_AUTH_CLIENT_KEY}=true"
            )
        return "none"


def _is_true(items: Mapping[str, str], key: str) -> bool:
    return items.get(key, "").lower() == "true"


def _split_list(items: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in map(str.strip, items.get(key, "").split(",")) if item))


def _read_protocols(items: Mapping[str, str]) -> tuple[str, ...]:
    """The allowed protocols. Protocols that are too old are ignored, because the server never uses them."""
    named = _split_list(items, _PROTOCOLS_KEY)
    unknown = [name for name in named if name not in _SUPPORTED_PROTOCOLS + _OBSOLETE_PROTOCOLS]
    supported = tuple(name for name in named if name in _SUPPORTED_PROTOCOLS)
    if unknown or (named and not supported):
        raise BadSettings(
            f'invalid value "{items[_PROTOCOLS_KEY]}" for {_PROTOCOLS_KEY}: '
            f"use {' and '.join(_SUPPORTED_PROTOCOLS)}"
        )
    return supported


def _read_outgoing(items: Mapping[str, str]) -> OutgoingTls | None:
    """Read the settings for outgoing TLS. As upstream, brokers are verified only if a setting requires it."""
    if not _is_true(items, _CLIENT_ENABLE_KEY):
        return None
    if _is_true(items, _TEST_MODE_KEY):
        return OutgoingTls(False)
    return OutgoingTls(
        _is_true(items, _AUTH_SERVER_KEY),
        items.get(_CLIENT_TRUST_PATH_KEY),
        items.get(_CLIENT_CERT_PATH_KEY),
        items.get(_CLIENT_KEY_PATH_KEY),
        items.get(SECRET_KEYS[1]),
    )
