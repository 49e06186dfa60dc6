"""Which setting wins: a flag of its own name, then `-D`, the environment, the file, the default."""

import argparse
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from namesrv_core.errors import BadSettings, RocketMQError
from namesrv_core.server.log import log
from namesrv_core.state import settings as known
from namesrv_core.state import tls_settings
from namesrv_core.state.settings import Settings
from namesrv_core.state.tls_settings import TlsSettings
from namesrv_core.storage import settings_file

_PREFIX = "NAMESRV_"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def variable(key: str) -> str:
    """What a setting is called in the environment: "journalDir" -> "NAMESRV_JOURNAL_DIR"."""
    return _PREFIX + _HUMP.sub("_", key).replace(".", "_").upper()


def configured(
    flags: argparse.Namespace, journals: bool = False, environ: Mapping[str, str] = os.environ
) -> Settings:
    """All settings of a start. RocketMQError, in one line, for what cannot be; OSError for the file."""
    home = Path(flags.home).expanduser() if flags.home else Path.home() / "namesrv"
    settings = Settings(
        rocketmqHome=environ.get("ROCKETMQ_HOME"),
        kvConfigPath=str(home / "kvConfig.json"),
        configStorePath=str(home / "namesrv.properties"),
    )
    tls: dict[str, str] = {}
    if flags.configFile is not None:
        if not flags.configFile:
            raise BadSettings("-c: the name of the file is empty; leave -c out, or say which file")
        _read(settings, Path(flags.configFile), tls)
    for key in (*known.KEYS, *tls_settings.KEYS):
        if variable(key) in environ:
            _set(settings, tls, key, environ[variable(key)], variable(key))
    for key, text in _pairs(flags.define):
        _set(settings, tls, key, text, f"-D{key}")
    settings.tls = TlsSettings.of({**tls, **_tls_file(tls)})
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
    elif journals and flags.no_journal:
        settings.journalDir = None
    elif journals and settings.journalDir is None:
        settings.journalDir = str(home / "journal")
    if flags.credentials is not None:
        settings.credentialsFile = str(Path(flags.credentials).expanduser())
    settings.readOnly = settings.readOnly or flags.read_only
    settings.noRemoteConfig = settings.noRemoteConfig or flags.no_remote_config
    if settings.clusterTest:
        raise RocketMQError("clusterTest=true is not supported: no broker could register")
    if settings.enableControllerInNamesrv:
        raise RocketMQError("enableControllerInNamesrv=true is not supported: run a controller beside it")
    settings.protect()
    return settings


def _read(settings: Settings, path: Path, tls: dict[str, str]) -> None:
    for item in settings_file.load(path):
        if item.key in tls_settings.KEYS:
            tls[item.key] = item.value
            (settings.hidden if item.key in tls_settings.SECRETS else settings.others)[item.key] = item.value
            continue
        problem = settings.set(item.key, item.value)
        if problem is not None and item.key in known.SECURITY:
            # What is meant to lock something never leaves it open because of a slip.
            raise BadSettings(f"{path}:{item.line}: {item.key}: {problem}")
        if problem is not None:
            log.warning("%s:%d: %s: %s", path, item.line, item.key, problem)
    settings.configStorePath = str(path)


def _tls_file(tls: Mapping[str, str]) -> dict[str, str]:
    """What upstream's own file for TLS says, which wins over all else in everything but the mode."""
    path = Path(tls.get(tls_settings.CONFIG_FILE, tls_settings.DEFAULT_CONFIG_FILE))
    try:
        items = settings_file.load(path)
    except FileNotFoundError:
        return {}
    return {item.key: item.value for item in items if item.key not in tls_settings.PINNED}


def _pairs(words: Iterable[str]) -> Iterable[tuple[str, str]]:
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or (key not in known.KEYS and key not in tls_settings.KEYS):
            raise BadSettings(
                f"-D{key}: no such setting; -Dkey=value sets one of those that -p prints, of ours"
                " (docs/limits.md) or of TLS"
            )
        yield key, text


def _set(settings: Settings, tls: dict[str, str], key: str, text: str, source: str) -> None:
    """A mistake in a file is an old habit and warned of, one that was typed is an error."""
    if key in tls_settings.KEYS:
        tls[key] = text
        return
    problem = settings.set(key, text)
    if problem is not None:
        raise BadSettings(f"{source}: {problem}")
