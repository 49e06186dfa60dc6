"""The settings of a name server: all keys of NamesrvConfig and NettyServerConfig, and our own keys.

The fields have the names of the keys in the configuration file. The module also decides which keys a request
may change.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from namesrv_core.errors import NoPermission
from namesrv_core.events import SettingChange, SettingsChanged
from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from namesrv_core.protocol.resource_names import DEFAULT_NAME_BYTES
from namesrv_core.protocol.size_limits import DecodeLimits, effective_limit
from namesrv_core.state import tls_settings
from namesrv_core.state.tls_settings import TlsSettings

_JOURNAL_KEYS = (
    "journalDir", "journalFsync", "journalKeepDays", "journalKeepMegabytes", "journalSegmentHours",
    "journalSegmentMegabytes", "journalServerId", "journalSnapshotMinutes",
)  # fmt: skip
# `nsaddr` is the list that the HTTP port gives to clients: whoever changes it moves them to other servers.
_OBSERVATION_KEYS = ("httpAddress", "httpTokenFile", "logFormat", "nsaddr")
SECURITY_KEYS = ("credentialsFile", "noRemoteConfig", "readOnly")
"""Access is also decided only where the server runs. These keys are shown if they differ from the default."""

# Addresses and threads: a change of the file by request would take effect at the next start.
_LISTENER_KEYS = (
    "bindAddress", "listenPort", "clientRequestThreadPoolNums", "defaultThreadPoolNums",
    "serverCallbackExecutorThreads", "serverSelectorThreads", "serverWorkerThreads",
)  # fmt: skip
# Another server may use keys of the same file that we do not know. Protect keys that look sensitive by name.
_DELICATE_KEY = re.compile(
    r"path|dir|file|home|port|addr|peers|thread|tls|ssl|acl|auth|secret|password|key", re.I
)

_KIB, _MIB = 1 << 10, 1 << 20
FSYNC_CHOICES = ("always", "interval", "never")
# Settings that upstream does not have are shown only if they differ from these defaults.
_UNSHOWN_DEFAULTS = {"fastPath": "true", "logFormat": "text", "logLevel": "INFO"}
_ESCAPED_LINE_BREAKS = {ord("\r"): r"\r", ord("\n"): r"\n"}
_ALLOWED_VALUES = {
    "journalFsync": FSYNC_CHOICES,
    "logFormat": ("text", "json"),
    "logLevel": ("DEBUG", "INFO", "WARN", "ERROR"),
}
# A name cannot begin with a bracket: otherwise a list of n addresses like [1]:1 could be read in 2**n ways.
_ADDR_PATTERN = r"([^\s:;\[][^\s:;]*|\[[0-9a-fA-F:]+\]):\d{1,5}"
_VALUE_PATTERNS = {"nsaddr": (re.compile(rf"{_ADDR_PATTERN}(;{_ADDR_PATTERN})*"), "HOST:PORT;HOST:PORT")}


@dataclass(slots=True)
class NameServerSettings:
    """All settings with upstream's defaults. Times are in ms unless the name has another unit.

    `others` has the unknown keys of the configuration file, which are shown again. `hidden` has the keys that
    stay in the file and are never shown.
    """

    # NamesrvConfig
    rocketmqHome: str | None = None
    kvConfigPath: str = ""
    configStorePath: str = ""
    productEnvName: str = "center"
    clusterTest: bool = False
    orderMessageEnable: bool = False
    returnOrderTopicConfigToBroker: bool = True
    clientRequestThreadPoolNums: int = 8
    defaultThreadPoolNums: int = 16
    clientRequestThreadPoolQueueCapacity: int = 50000
    defaultThreadPoolQueueCapacity: int = 10000
    scanNotActiveBrokerInterval: int = 5000
    unRegisterBrokerQueueCapacity: int = 3000
    supportActingMaster: bool = False
    enableAllTopicList: bool = True
    enableTopicList: bool = True
    notifyMinBrokerIdChanged: bool = False
    enableControllerInNamesrv: bool = False
    needWaitForService: bool = False
    waitSecondsForService: int = 45
    deleteTopicWithBrokerRegistration: bool = False
    configBlackList: str = "configBlackList;configStorePath;kvConfigPath"
    # NettyServerConfig
    bindAddress: str = "0.0.0.0"
    listenPort: int = 9876
    serverWorkerThreads: int = 8
    serverCallbackExecutorThreads: int = 0
    serverSelectorThreads: int = 3
    serverOnewaySemaphoreValue: int = 256
    serverAsyncSemaphoreValue: int = 64
    serverChannelMaxIdleTimeSeconds: int = 120
    serverSocketSndBufSize: int = 0
    serverSocketRcvBufSize: int = 0
    writeBufferHighWaterMark: int = 0
    writeBufferLowWaterMark: int = 0
    serverSocketBacklog: int = 1024
    serverNettyWorkerGroupEnable: bool = True
    serverPooledByteBufAllocatorEnable: bool = True
    useEpollNativeSelector: bool = False
    enableShutdownGracefully: bool = False
    shutdownWaitTimeSeconds: int = 30
    # Our own keys, shown if there is a journal.
    journalDir: str | None = None
    journalServerId: str | None = None
    journalFsync: str = "interval"
    journalSegmentMegabytes: int = 16
    journalSegmentHours: int = 24
    journalKeepMegabytes: int = 2048
    journalKeepDays: int = 400
    journalSnapshotMinutes: int = 60
    # Our own keys, shown if they have a value.
    httpAddress: str | None = None
    httpTokenFile: str | None = None
    nsaddr: str | None = None
    credentialsFile: str | None = None
    readOnly: bool = False
    noRemoteConfig: bool = False
    logFormat: str = "text"
    logLevel: str = "INFO"
    fastPath: bool = True

    # The limits, shown if they differ from the default. Zero or less means no limit. The defaults exceed the
    # needs of any real cluster.
    maxConnections: int = 100_000
    maxConnectionsPerAddress: int = 10_000
    maxFrameBytes: int = MAX_FRAME_BYTES
    maxHeaderBytes: int = 128 * _KIB
    maxExtFields: int = 256
    maxJsonDepth: int = 100
    maxFramesPerSecond: int = 10_000
    maxBytesPerSecond: int = 64 * _MIB
    maxSecondsPerFrame: int = 60
    maxUnsentBytes: int = 64 * _MIB
    maxUnsentSeconds: int = 60
    maxBufferedBytes: int = 256 * _MIB
    maxRegistrationBytes: int = 64 * _MIB
    maxTopicsPerRegistration: int = 100_000
    maxMappingsPerRegistration: int = 10_000
    maxQueueIdsPerRegistration: int = 20_000
    maxFilterServersPerRegistration: int = 1_000
    maxOddRegistrationBytes: int = 4 * _MIB
    maxBodyBytes: int = 256 * _KIB
    maxNameBytes: int = DEFAULT_NAME_BYTES
    maxTopics: int = 1_000_000
    maxBrokers: int = 10_000
    maxKvEntryBytes: int = 64 * _KIB
    maxKvBytes: int = 8 * _MIB

    others: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict, repr=False)
    tls: TlsSettings = field(default_factory=TlsSettings)
    generation: int = 0
    protected: frozenset[str] = field(default_factory=lambda: _PROTECTED_KEYS)

    def set_from_text(self, key: str, text: str) -> str | None:
        """Set a key from its text, which is trimmed. Return a description of the problem, or None.

        A bad number leaves the key unchanged. A flag that is not "true" is false, as upstream.
        """
        text = text.strip()
        value_type = _TYPES_BY_KEY.get(key)
        if value_type is None:
            self.others[key] = text
            return "unknown setting, shown but not used"
        if text not in _ALLOWED_VALUES.get(key, (text,)):
            return f'invalid value "{text}": use one of {", ".join(_ALLOWED_VALUES[key])}'
        if key in _VALUE_PATTERNS and text and not _VALUE_PATTERNS[key][0].fullmatch(text):
            return f'invalid value "{text}": write {_VALUE_PATTERNS[key][1]}'
        problem = None
        value: object = text
        if value_type is bool:
            value = text.lower() == "true"
            if text.lower() not in ("true", "false"):
                problem = f'invalid value "{text}": write true or false'
        elif value_type is int:
            try:
                value = number = _parse_number(text)
            except ValueError:
                return f'invalid value "{text}": write a whole number'
            if key in _JOURNAL_KEYS and number < 1:
                return f'invalid value "{text}": write a number of at least 1'
        setattr(self, key, value)
        self.generation += 1
        return problem

    def fix_protected_keys(self) -> None:
        """Fix the keys that no request may change. Call this once, when the configuration is complete."""
        blacklisted_keys = {key.strip() for key in self.configBlackList.split(";")}
        self.protected = _PROTECTED_KEYS | blacklisted_keys

    def apply_update(self, requested: Mapping[str, str]) -> SettingsChanged:
        """Apply the keys of UPDATE_NAMESRV_CONFIG. Unknown keys are ignored.

        Raises NoPermission, without a change, if one of the keys is protected.
        """
        if self.protected.intersection(requested) or any(
            key in self.others and _DELICATE_KEY.search(key) for key in requested
        ):
            raise NoPermission("Can not update config in black list.")
        before = self._all_items()
        for key, text in requested.items():
            if key in _TYPES_BY_KEY or key in self.others:
                self.set_from_text(key, text)
        after = self._all_items()
        return SettingsChanged(
            tuple(SettingChange(key, before.get(key), t) for key, t in after.items() if t != before.get(key))
        )

    def restore_items(self, items: Mapping[str, str]) -> None:
        """Go back to earlier settings, because the later changes could not be saved."""
        for key in _NULLABLE_KEYS.difference(items):
            setattr(self, key, None)
        for key, text in {**_UNSHOWN_DEFAULTS, **items}.items():
            self.set_from_text(key, text)

    def _all_items(self) -> dict[str, str]:
        return {**_UNSHOWN_DEFAULTS, **self.shown_items()}

    def shown_items(self) -> dict[str, str]:
        """The shown keys with their texts, sorted. Keys that are null or not in use are left out."""
        unused = {key for key in SECURITY_KEYS if not getattr(self, key)}
        unused.update(key for key, d in _UNSHOWN_DEFAULTS.items() if _format_value(getattr(self, key)) == d)
        unused.update(key for key, default in DEFAULT_LIMITS.items() if getattr(self, key) == default)
        if self.journalDir is None:
            unused.update(_JOURNAL_KEYS)
        values = {key: getattr(self, key) for key in _TYPES_BY_KEY if key not in unused}
        texts = {key: _format_value(value) for key, value in values.items() if value is not None}
        return dict(sorted({**self.others, **texts}.items()))

    def format_setting(self, key: str) -> str:
        value = getattr(self, key)
        return "" if value is None else _format_value(value)

    def build_decode_limits(self) -> DecodeLimits:
        return DecodeLimits(
            effective_limit(self.maxFrameBytes),
            effective_limit(self.maxHeaderBytes),
            effective_limit(self.maxExtFields),
            effective_limit(self.maxJsonDepth),
            effective_limit(self.maxRegistrationBytes),
            effective_limit(self.maxTopicsPerRegistration),
            effective_limit(self.maxMappingsPerRegistration),
            effective_limit(self.maxQueueIdsPerRegistration),
            effective_limit(self.maxFilterServersPerRegistration),
            effective_limit(self.maxOddRegistrationBytes),
            effective_limit(self.maxNameBytes),
        )

    def encode_body(self, actual: Mapping[str, str] = MappingProxyType({})) -> bytes:
        """The lines `key=value` of GET_NAMESRV_CONFIG and of `-p`. `actual` take precedence."""
        items = {**self.shown_items(), **actual}
        return b"".join(encode_setting_line(key, items[key]) for key in sorted(items))


def encode_setting_line(key: str, text: str) -> bytes:
    """A line of GET_NAMESRV_CONFIG. It escapes line breaks as Properties do, and like Java's nothing else."""
    return f"{key}={text}".translate(_ESCAPED_LINE_BREAKS).encode("utf-8", "replace") + b"\n"


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parse_number(digits: str) -> int:
    if not digits.lstrip("+-").isdecimal():
        raise ValueError
    number = int(digits)
    if not -(2**31) <= number < 2**31:
        raise ValueError
    return number


_TYPES_BY_KEY: dict[str, type] = {
    s.name: str if s.default is None or isinstance(s.default, str) else type(s.default)
    for s in fields(NameServerSettings)
    if s.name not in ("others", "hidden", "tls", "generation", "protected")
}
_NULLABLE_KEYS = frozenset(
    s.name for s in fields(NameServerSettings) if s.name in _TYPES_BY_KEY and s.default is None
)

SETTING_KEYS = frozenset(_TYPES_BY_KEY)
"""All keys that this server knows."""
DEFAULT_LIMITS: Mapping[str, int] = {
    setting.name: setting.default
    for setting in fields(NameServerSettings)
    if setting.name.startswith("max") and isinstance(setting.default, int)
}
# Only the operator of the machine decides where a name server keeps its data: a request cannot move, shorten
# or stop the journal.
_PROTECTED_KEYS: frozenset[str] = frozenset(
    {
        "configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome",
        "fastPath", *_JOURNAL_KEYS, *_OBSERVATION_KEYS, *SECURITY_KEYS, *_LISTENER_KEYS,
        *tls_settings.TLS_KEYS, *DEFAULT_LIMITS,
    }
)  # fmt: skip
