"""Comparison of server configurations with each other and with the defaults of their release. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from nsadmin.client.redaction import is_secret_name
from nsadmin.console.phrases import count_noun
from nsadmin.operations.divergence.comparison import OWN_SETTINGS
from nsadmin.operations.release_faults import parse_release

SettingTexts = Mapping[str, str]
DefaultTexts = Mapping[str, str | None]
"""The default of each setting; None where it depends on the machine."""

_BASE = "basedOn"
"""The key of the release whose defaults a release of `config_defaults.json` has, too."""
_OWN_SETTINGS = OWN_SETTINGS | {
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


class ComparedServer(NamedTuple):
    """A server's settings: `server_kind` is "broker" or "namesrv", `release` is "" if unknown."""

    server_kind: str
    server_name: str
    release: str
    setting_texts: SettingTexts


class SettingDifference(NamedTuple):
    """A setting that differs between servers: its text by server and its default by release.

    Servers whose release lacks the setting are omitted. None is a machine-dependent default.
    """

    server_kind: str
    setting_name: str
    texts_by_server: Mapping[str, str]
    defaults_by_release: Mapping[str, str | None]


def is_own_setting(setting_name: str) -> bool:
    """Whether a setting holds the identity or location of a server. Such settings always differ."""
    return setting_name in _OWN_SETTINGS or setting_name.startswith("storePath")


class KnownDefaults:
    """The defaults of released servers, read from real servers."""

    def __init__(self) -> None:
        json_text = files(__package__).joinpath("config_defaults.json").read_text("utf-8")
        self._defaults_by_kind: Mapping[str, Mapping[str, DefaultTexts]] = json.loads(json_text)

    def find_nearest_release(self, server_kind: str, release: str) -> str | None:
        """The known release that stands for this one: itself, the next or the newest of its generation."""
        number = parse_release(release)
        same_generation = {
            known: known_number
            for known in self._defaults_by_kind[server_kind]
            if known.partition(".")[0] == release.partition(".")[0]
            and (known_number := parse_release(known)) is not None
        }
        later = [known for known, n in same_generation.items() if number is not None and n >= number]
        if later:
            return min(later, key=lambda known: same_generation[known])
        return max(same_generation, key=lambda known: same_generation[known], default=None)

    def get_defaults(self, server_kind: str, release: str) -> DefaultTexts:
        nearest_release = self.find_nearest_release(server_kind, release)
        if nearest_release is None:
            return {}
        defaults = dict(self._defaults_by_kind[server_kind][nearest_release])
        base_release = defaults.pop(_BASE, None)
        return (
            defaults if base_release is None else {**self.get_defaults(server_kind, base_release), **defaults}
        )


def find_differences(
    servers: Sequence[ComparedServer], defaults: KnownDefaults, *, include_own: bool = False
) -> list[SettingDifference]:
    """Settings that differ between servers of one kind. `include_own` adds identity and location settings."""
    return [
        difference
        for difference in _collect_settings(servers, defaults, include_own)
        if len({_normalize_text(text) for text in difference.texts_by_server.values()}) > 1
    ]


def find_changed_settings(
    servers: Sequence[ComparedServer], defaults: KnownDefaults, *, include_own: bool = False
) -> list[SettingDifference]:
    """Settings that differ from their release's default on some server, if they have a default."""
    defaults_by_server = {
        server.server_name: defaults.get_defaults(server.server_kind, server.release) for server in servers
    }
    changed_settings = []
    for difference in _collect_settings(servers, defaults, include_own):
        changed_texts = {
            name: text
            for name, text in difference.texts_by_server.items()
            if (default_text := defaults_by_server[name].get(difference.setting_name)) is not None
            and _normalize_text(text) != _normalize_text(default_text)
        }
        if changed_texts:
            changed_settings.append(difference._replace(texts_by_server=changed_texts))
    return changed_settings


def _collect_settings(
    servers: Sequence[ComparedServer], defaults: KnownDefaults, include_own: bool
) -> Iterator[SettingDifference]:
    for server_kind in sorted({server.server_kind for server in servers}):
        servers_of_kind = [server for server in servers if server.server_kind == server_kind]
        for setting_name in sorted({name for server in servers_of_kind for name in server.setting_texts}):
            if is_own_setting(setting_name) and not include_own:
                continue
            having = [server for server in servers_of_kind if setting_name in server.setting_texts]
            releases = {defaults.find_nearest_release(server_kind, server.release) for server in having}
            defaults_by_release = {
                release: known[setting_name]
                for release in sorted(filter(None, releases))
                if setting_name in (known := defaults.get_defaults(server_kind, release))
            }
            texts_by_server = {server.server_name: server.setting_texts[setting_name] for server in having}
            yield SettingDifference(server_kind, setting_name, texts_by_server, defaults_by_release)


def _normalize_text(setting_text: str) -> str:
    """The text for comparison: Java writes true and false in lower case, operators use any case."""
    stripped_text = setting_text.strip()
    return stripped_text.lower() if stripped_text.lower() in ("true", "false") else stripped_text


def redact_secrets(difference: SettingDifference) -> Mapping[str, str]:
    """The texts by server. Possible secrets are replaced by numbers that show only which ones are equal."""
    distinct_texts = dict.fromkeys(difference.texts_by_server.values())
    if not is_secret_name(difference.setting_name) and not any(map(is_secret_name, distinct_texts)):
        return difference.texts_by_server
    text_order = list(distinct_texts)
    return {
        name: text if text in ("", "null") else f"secret {text_order.index(text) + 1}"
        for name, text in difference.texts_by_server.items()
    }


_MOST_NAMED_SERVERS = 4


def describe_texts(texts_by_server: Mapping[str, str]) -> str:
    """One line: each text with its servers, or with the number of servers if there are many."""
    servers_by_text: dict[str, list[str]] = {}
    for server_name, setting_text in texts_by_server.items():
        servers_by_text.setdefault(setting_text, []).append(server_name)
    return ", ".join(
        f"{text or repr('')} on {_describe_servers(server_names)}"
        for text, server_names in servers_by_text.items()
    )


def _describe_servers(server_names: Sequence[str]) -> str:
    """The names, or their number if there are many."""
    if len(server_names) <= _MOST_NAMED_SERVERS:
        return " ".join(server_names)
    return count_noun(len(server_names), "server")
