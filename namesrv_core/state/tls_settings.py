"""Upstream's TLS settings (`TlsSystemConfig`): their combined meaning and their contradictions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from namesrv_core.errors import BadSettings

SECRETS = ("tls.server.keyPassword", "tls.client.keyPassword")
CONFIG_FILE = "tls.config.file"
MODE = "tls.server.mode"

_TEST_MODE, _AUTH, _NEED = "tls.test.mode.enable", "tls.server.authClient", "tls.server.need.client.auth"
_CERT, _KEY, _TRUST = "tls.server.certPath", "tls.server.keyPath", "tls.server.trustCertPath"
_ENABLE, _AUTH_SERVER, _CLIENT_TRUST = "tls.enable", "tls.client.authServer", "tls.client.trustCertPath"
_CLIENT_CERT, _CLIENT_KEY = "tls.client.certPath", "tls.client.keyPath"
_PROTOCOLS, _CIPHERS = "tls.protocols", "tls.ciphers"
KEYS = (
    MODE, CONFIG_FILE, _TEST_MODE, _CERT, _KEY, _AUTH, _TRUST, _NEED, _ENABLE, _AUTH_SERVER, _CLIENT_TRUST,
    _CLIENT_CERT, _CLIENT_KEY, _PROTOCOLS, _CIPHERS, *SECRETS,
)  # fmt: skip
PINNED = (MODE, _ENABLE)
"""The keys that a TLS file cannot change."""
DEFAULT_CONFIG_FILE = "/etc/rocketmq/tls.properties"
_CHOICES = {MODE: ("disabled", "permissive", "enforcing"), _NEED: ("none", "optional", "require")}
_SPOKEN = ("TLSv1.2", "TLSv1.3")
_TOO_OLD = ("SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1")
_FLAGS = (_TEST_MODE, _AUTH, _ENABLE, _AUTH_SERVER)


class Outgoing(NamedTuple):
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
    clients: str = "none"
    trust_path: str | None = None
    outgoing: Outgoing | None = None
    protocols: tuple[str, ...] = ()
    ciphers: tuple[str, ...] = ()

    def shown(self) -> dict[str, str]:
        """The values that differ from the defaults, by upstream's keys, without passwords."""
        values = {
            MODE: self.mode,
            _CERT: self.cert_path,
            _KEY: self.key_path,
            _NEED: self.clients,
            _TRUST: self.trust_path,
            _ENABLE: "true" if self.outgoing else None,
            _PROTOCOLS: ",".join(self.protocols) or None,
            _CIPHERS: ",".join(self.ciphers) or None,
        }
        usual = (None, "permissive", "none")
        return {key: text for key, text in values.items() if text is not None and text not in usual}

    @classmethod
    def of(cls, items: Mapping[str, str]) -> Self:
        """Read texts by upstream's keys. Raises BadSettings for errors that upstream ignores silently."""
        given = {key: text.strip() for key, text in items.items() if key in KEYS and text.strip()}
        for key, choices in _CHOICES.items():
            given[key] = given.get(key, choices[1] if key == MODE else choices[0]).lower()
            if given[key] not in choices:
                raise BadSettings(f"{key}={given[key]}: it is one of {', '.join(choices)}")
        for key in _FLAGS:
            if given.get(key, "true").lower() not in ("true", "false"):
                raise BadSettings(f"{key}={given[key]}: it is true or false")
        made = cls._as_a_server(given)
        return replace(
            made, outgoing=_outgoing(given), protocols=_protocols(given), ciphers=_listed(given, _CIPHERS)
        )

    @classmethod
    def _as_a_server(cls, given: Mapping[str, str]) -> Self:
        if given[MODE] == "disabled":
            return cls("disabled")
        cert, path = given.get(_CERT), given.get(_KEY)
        is_test = given.get(_TEST_MODE, "false" if cert or path else "true").lower() == "true"
        if is_test:
            return cls._in_test_mode(given)
        if cert is None or path is None:
            missing = _KEY if cert else _CERT
            raise BadSettings(f"{missing} is missing: TLS needs a certificate and its key")
        return cls(given[MODE], cert, path, given.get(SECRETS[0]), cls._clients(given), given.get(_TRUST))

    @classmethod
    def _in_test_mode(cls, given: Mapping[str, str]) -> Self:
        for key in (_CERT, _KEY, _TRUST):
            if key in given:
                raise BadSettings(f"{key} is not used as long as {_TEST_MODE}=true: set that to false")
        if given[_NEED] == "require":
            raise BadSettings(f"{_NEED}=require needs certificates: {_CERT}, {_KEY} and {_TRUST}")
        return cls(given[MODE])

    @staticmethod
    def _clients(given: Mapping[str, str]) -> str:
        """Whether to request client certificates. A certificate that is not verified proves nothing."""
        if given.get(_AUTH, "false").lower() == "true":
            return given[_NEED]
        if given[_NEED] == "require":
            raise BadSettings(
                f"{_NEED}=require proves nothing while {_AUTH}=false takes any certificate: set that to true"
            )
        return "none"


def _listed(given: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in map(str.strip, given.get(key, "").split(",")) if name))


def _protocols(given: Mapping[str, str]) -> tuple[str, ...]:
    """The allowed protocols. Protocols that are too old are ignored, because the server never uses them."""
    named = _listed(given, _PROTOCOLS)
    strange = [name for name in named if name not in _SPOKEN + _TOO_OLD]
    spoken = tuple(name for name in named if name in _SPOKEN)
    if strange or (named and not spoken):
        raise BadSettings(f"{_PROTOCOLS}={given[_PROTOCOLS]}: what is spoken here is {' and '.join(_SPOKEN)}")
    return spoken


def _outgoing(given: Mapping[str, str]) -> Outgoing | None:
    """Read the settings for outgoing TLS. As upstream, brokers are verified only if a setting says so."""
    if given.get(_ENABLE, "false").lower() != "true":
        return None
    if given.get(_TEST_MODE, "false").lower() == "true":
        return Outgoing(False)
    return Outgoing(
        given.get(_AUTH_SERVER, "false").lower() == "true",
        given.get(_CLIENT_TRUST),
        given.get(_CLIENT_CERT),
        given.get(_CLIENT_KEY),
        given.get(SECRETS[1]),
    )
