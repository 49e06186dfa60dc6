"""Comparison of server configurations with each other and with the defaults of their release. Pure."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from nsadmin.client.secrecy import is_secret
from nsadmin.operations.divergence.comparing import OWN_SETTINGS

Config = Mapping[str, str]
Defaults = Mapping[str, str | None]
"""The default of each setting; None where it depends on the machine."""

_OWN = OWN_SETTINGS | {
    "brokerClusterName",
    "brokerConfigPath",
    "brokerIP1",
    "brokerIP2",
    "brokerId",
    "brokerName",
    "brokerRole",
    "haListenPort",
    "haMasterAddress",
}


class Server(NamedTuple):
    """A server's settings: `server_kind` is "broker" or "namesrv", `release` is "" if unknown."""

    kind: str
    name: str
    release: str
    config: Config


class SettingDifference(NamedTuple):
    """A setting that differs between servers: its text by server and its default by release.

    Servers whose release lacks the setting are left out. A machine-dependent default is None.
    """

    kind: str
    key: str
    values: Mapping[str, str]
    defaults: Mapping[str, str | None]


def is_own(key: str) -> bool:
    """Whether a setting holds the identity or location of a server. Such settings always differ."""
    return key in _OWN or key.startswith("storePath")


class KnownDefaults:
    """The defaults of released servers, read from real servers of 4.9.7 and 5.5.0."""

    def __init__(self) -> None:
        text = files(__package__).joinpath("config_defaults.json").read_text("utf-8")
        self._by_kind: Mapping[str, Mapping[str, Defaults]] = json.loads(text)

    def release(self, kind: str, release: str) -> str | None:
        """The known release that stands for this one: itself, else the newest of the same major version."""
        known = self._by_kind[kind]
        alike = [name for name in known if name.partition(".")[0] == release.partition(".")[0]]
        return release if release in known else max(alike, default=None)

    def of(self, kind: str, release: str) -> Defaults:
        nearest = self.release(kind, release)
        return {} if nearest is None else self._by_kind[kind][nearest]


def differing(
    servers: Sequence[Server], known: KnownDefaults, *, own: bool = False
) -> list[SettingDifference]:
    """Settings that differ between servers of one kind. `include_own` adds identity and location settings."""
    return [
        difference
        for difference in _all(servers, known)
        if len({_plain(value) for value in difference.values.values()}) > 1
        and (own or not is_own(difference.key))
    ]


def changed(servers: Sequence[Server], known: KnownDefaults, *, own: bool = False) -> list[SettingDifference]:
    """Settings that differ from their release's default on some server, if they have a default."""
    defaults = {server.name: known.of(server.kind, server.release) for server in servers}
    found = []
    for difference in _all(servers, known):
        values = {
            name: value
            for name, value in difference.values.items()
            if (default := defaults[name].get(difference.key)) is not None
            and _plain(value) != _plain(default)
        }
        if values and (own or not is_own(difference.key)):
            found.append(difference._replace(values=values))
    return found


def _all(servers: Sequence[Server], known: KnownDefaults) -> list[SettingDifference]:
    found = []
    for kind in sorted({server.kind for server in servers}):
        alike = [server for server in servers if server.kind == kind]
        for key in sorted({key for server in alike for key in server.config}):
            having = [server for server in alike if key in server.config]
            defaults = {
                release: known.of(kind, release)[key]
                for release in sorted({known.release(kind, server.release) or "" for server in having})
                if release and key in known.of(kind, release)
            }
            values = {server.name: server.config[key] for server in having}
            found.append(SettingDifference(kind, key, values, defaults))
    return found


def _plain(text: str) -> str:
    """The text for comparison: Java writes true and false in lower case, operators use any case."""
    stripped = text.strip()
    return stripped.lower() if stripped.lower() in ("true", "false") else stripped


def shown(difference: SettingDifference) -> Mapping[str, str]:
    """The texts by server. Possible secrets are replaced by numbers that show only which ones are equal."""
    texts = dict.fromkeys(difference.values.values())
    if not is_secret(difference.key) and not any(map(is_secret, texts)):
        return difference.values
    order = list(texts)
    return {
        name: value if value in ("", "null") else f"secret {order.index(value) + 1}"
        for name, value in difference.values.items()
    }


_FEW = 4


def in_words(values: Mapping[str, str]) -> str:
    """One line: each text with its servers, or with the number of servers if there are many."""
    by_text: dict[str, list[str]] = {}
    for name, value in values.items():
        by_text.setdefault(value, []).append(name)
    return ", ".join(
        f"{value or repr('')} on {' '.join(names) if len(names) <= _FEW else f'{len(names)} of them'}"
        for value, names in by_text.items()
    )
