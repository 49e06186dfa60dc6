"""Loading of settings. Precedence: a separate flag, `-D`, the environment, the file, the default."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from namesrv_core import private_files
from namesrv_core.errors import BadSettings, RocketMQError
from namesrv_core.server.log import log
from namesrv_core.state import settings as known
from namesrv_core.state import tls_settings
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.state.tls_settings import TlsSettings
from namesrv_core.storage import settings_file

_VARIABLE_PREFIX = "NAMESRV_"
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class NameServerFlags(msgspec.Struct, forbid_unknown_fields=True):
    """The options of `nsadmin namesrv`, which describes them; None for one that was not given."""

    config_file: str | None = None
    definitions: list[str] | None = None
    prints_settings: bool = False
    namesrv_addrs: str | None = None
    port: int | None = None
    bind: str | None = None
    home: str | None = None
    journal_dir: str | None = None
    no_journal: bool = False
    http: str | None = None
    credentials: str | None = None
    read_only: bool = False
    no_remote_config: bool = False
    log_format: str | None = None
    log_level: str | None = None


def environment_variable(key: str) -> str:
    """The environment variable of a setting: "journalDir" -> "NAMESRV_JOURNAL_DIR"."""
    return _VARIABLE_PREFIX + _CAMEL_HUMP.sub("_", key).replace(".", "_").upper()


def load_settings(flags: NameServerFlags, environment: Mapping[str, str] = os.environ) -> NameServerSettings:
    """Load all settings. Raises RocketMQError, in one line, for invalid ones, and OSError for the file."""
    home = Path(flags.home).expanduser() if flags.home else Path.home() / "namesrv"
    settings = NameServerSettings(
        rocketmqHome=environment.get("ROCKETMQ_HOME"),
        kvConfigPath=str(home / "kvConfig.json"),
        configStorePath=str(home / "namesrv.properties"),
    )
    tls_items: dict[str, str] = {}
    if flags.config_file is not None:
        if not flags.config_file:
            raise BadSettings("-c has an empty file name: give a file, or omit -c")
        _read_settings_file(settings, Path(flags.config_file), tls_items)
    for key in (*known.SETTING_KEYS, *tls_settings.TLS_KEYS):
        if environment_variable(key) in environment:
            _apply_setting(
                settings, tls_items, key, environment[environment_variable(key)], environment_variable(key)
            )
    for key, text in _parse_defines(flags.definitions or ()):
        _apply_setting(settings, tls_items, key, text, f"-D{key}")
    settings.tls = TlsSettings.from_items({**tls_items, **_read_tls_file(tls_items)})
    if flags.port is not None:
        settings.listenPort = flags.port
    if flags.bind is not None:
        settings.bindAddress = flags.bind
    if flags.log_format is not None:
        settings.logFormat = flags.log_format
    if flags.log_level is not None:
        settings.logLevel = flags.log_level
    if flags.http is not None:
        settings.httpAddress = flags.http
    if flags.journal_dir is not None:
        settings.journalDir = str(Path(flags.journal_dir).expanduser())
    elif flags.no_journal:
        settings.journalDir = None
    elif settings.journalDir is None:
        settings.journalDir = str(home / "journal")
    if flags.credentials is not None:
        settings.credentialsFile = str(Path(flags.credentials).expanduser())
    settings.readOnly = settings.readOnly or flags.read_only
    settings.noRemoteConfig = settings.noRemoteConfig or flags.no_remote_config
    if settings.clusterTest:
        raise RocketMQError("clusterTest=true is not supported: brokers could not register")
    if settings.enableControllerInNamesrv:
        raise RocketMQError("enableControllerInNamesrv=true is not supported: run a separate controller")
    settings.fix_protected_keys()
    for name in (
        settings.kvConfigPath,
        settings.configStorePath,
        settings.journalDir,
        settings.credentialsFile,
    ):
        if name:
            private_files.check_links(name)
    return settings


def _read_settings_file(settings: NameServerSettings, path: Path, tls_items: dict[str, str]) -> None:
    for item in settings_file.load_setting_items(path):
        if item.key in tls_settings.TLS_KEYS:
            tls_items[item.key] = item.value
            (settings.hidden if item.key in tls_settings.SECRET_KEYS else settings.others)[item.key] = (
                item.value
            )
            continue
        problem = settings.set_from_text(item.key, item.value)
        if problem is not None and item.key in known.SECURITY_KEYS:
            # A typing error in a security setting must not leave the server open.
            raise BadSettings(f"{path}:{item.line_number}: {item.key}: {problem}")
        if problem is not None:
            if item.key in known.SETTING_KEYS:
                problem += f"; using {settings.format_setting(item.key)}"
            log.warning("%s:%d: %s: %s", path, item.line_number, item.key, problem)
    settings.configStorePath = str(path)


def _read_tls_file(tls_items: Mapping[str, str]) -> dict[str, str]:
    """Read upstream's TLS file. Its values override all others, except for the mode and `tls.enable`."""
    path = Path(tls_items.get(tls_settings.CONFIG_FILE_KEY, tls_settings.DEFAULT_CONFIG_FILE))
    try:
        items = settings_file.load_setting_items(path)
    except FileNotFoundError:
        return {}
    return {item.key: item.value for item in items if item.key not in tls_settings.PINNED_KEYS}


def _parse_defines(define_words: Iterable[str]) -> Iterable[tuple[str, str]]:
    for word in define_words:
        key, equals, text = word.partition("=")
        if not equals or (key not in known.SETTING_KEYS and key not in tls_settings.TLS_KEYS):
            raise BadSettings(
                f'unknown setting "{key}" for -D: give KEY=VALUE with a key that -p prints, '
                "a limit of nsadmin guide limits, or a TLS setting"
            )
        yield key, text


def _apply_setting(
    settings: NameServerSettings, tls_items: dict[str, str], key: str, text: str, source_name: str
) -> None:
    """Apply a setting from the command line or environment. An invalid value is an error, not a warning."""
    if key in tls_settings.TLS_KEYS:
        tls_items[key] = text
        return
    problem = settings.set_from_text(key, text)
    if problem is not None:
        raise BadSettings(f"{source_name}: {problem}")
