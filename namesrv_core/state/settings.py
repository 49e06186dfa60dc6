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
from namesrv_core.protocol.limits import Limits
from namesrv_core.state import tls_settings
from namesrv_core.state.limits import DEFAULTS, effective
from namesrv_core.state.tls_settings import TlsSettings

_JOURNAL = (
    "journalDir", "journalFsync", "journalKeepDays", "journalKeepMegabytes", "journalSegmentHours",
    "journalSegmentMegabytes", "journalServerId", "journalSnapshotMinutes",
)  # fmt: skip
_SEEN = ("httpAddress", "httpTokenFile", "logFormat")
SECURITY = ("credentialsFile", "noRemoteConfig", "readOnly")
"""Access is also decided only where the server runs. These keys are shown if they differ from the default."""

# Addresses and threads: a change of the file by request would take effect at the next start.
_PLACES_AND_THREADS = (
    "bindAddress", "listenPort", "clientRequestThreadPoolNums", "defaultThreadPoolNums",
    "serverCallbackExecutorThreads", "serverSelectorThreads", "serverWorkerThreads",
)  # fmt: skip
# Only the operator of the machine decides where a name server keeps its data: a request cannot move, shorten
# or stop the journal.
_PROTECTED = frozenset(
    {
        "configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome",
        "fastPath", *_JOURNAL, *_SEEN, *SECURITY, *_PLACES_AND_THREADS, *tls_settings.KEYS, *DEFAULTS,
    }
)  # fmt: skip
# Another server may use keys of the same file that we do not know. Protect keys that look sensitive by name.
_DELICATE = re.compile(
    r"path|dir|file|home|port|addr|peers|thread|tls|ssl|acl|auth|secret|password|key", re.I
)

FSYNC = ("always", "interval", "never")
# Settings that upstream does not have are shown only if they differ from these defaults.
_QUIET = {"fastPath": "true", "logFormat": "text", "logLevel": "INFO"}
_CHOICES = {
    "journalFsync": FSYNC,
    "logFormat": ("text", "json"),
    "logLevel": ("DEBUG", "INFO", "WARN", "ERROR"),
}
_SHAPES = {
    "nsaddr": (
        re.compile(r"([^\s:;]+|\[[0-9a-fA-F:]+\]):\d{1,5}(;([^\s:;]+|\[[0-9a-fA-F:]+\]):\d{1,5})*"),
        "HOST:PORT;HOST:PORT",
    )
}


@dataclass(slots=True)
class Settings:
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

    # Our own keys, shown if they differ from the default.
    maxConnections: int = DEFAULTS["maxConnections"]
    maxConnectionsPerAddress: int = DEFAULTS["maxConnectionsPerAddress"]
    maxFrameBytes: int = DEFAULTS["maxFrameBytes"]
    maxHeaderBytes: int = DEFAULTS["maxHeaderBytes"]
    maxExtFields: int = DEFAULTS["maxExtFields"]
    maxJsonDepth: int = DEFAULTS["maxJsonDepth"]
    maxFramesPerSecond: int = DEFAULTS["maxFramesPerSecond"]
    maxBytesPerSecond: int = DEFAULTS["maxBytesPerSecond"]
    maxSecondsPerFrame: int = DEFAULTS["maxSecondsPerFrame"]
    maxUnsentBytes: int = DEFAULTS["maxUnsentBytes"]
    maxUnsentSeconds: int = DEFAULTS["maxUnsentSeconds"]
    maxBufferedBytes: int = DEFAULTS["maxBufferedBytes"]
    maxRegistrationBytes: int = DEFAULTS["maxRegistrationBytes"]
    maxTopicsPerRegistration: int = DEFAULTS["maxTopicsPerRegistration"]
    maxMappingsPerRegistration: int = DEFAULTS["maxMappingsPerRegistration"]
    maxFilterServersPerRegistration: int = DEFAULTS["maxFilterServersPerRegistration"]
    maxOddRegistrationBytes: int = DEFAULTS["maxOddRegistrationBytes"]
    maxBodyBytes: int = DEFAULTS["maxBodyBytes"]
    maxTopics: int = DEFAULTS["maxTopics"]
    maxBrokers: int = DEFAULTS["maxBrokers"]
    maxKvEntryBytes: int = DEFAULTS["maxKvEntryBytes"]
    maxKvBytes: int = DEFAULTS["maxKvBytes"]

    others: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, str] = field(default_factory=dict, repr=False)
    tls: TlsSettings = field(default_factory=TlsSettings)
    generation: int = 0
    protected: frozenset[str] = _PROTECTED

    def set(self, key: str, text: str) -> str | None:
        """Set a key from its text, which is trimmed. Return a description of the problem, or None.

        A bad number leaves the key unchanged. A flag that is not "true" is false, as upstream.
        """
        text = text.strip()
        kind = _KINDS.get(key)
        if kind is None:
            self.others[key] = text
            return "unknown key, shown and not used"
        if text not in _CHOICES.get(key, (text,)):
            return f"{text!r} is none of {', '.join(_CHOICES[key])}, {getattr(self, key)} stays"
        if key in _SHAPES and text and not _SHAPES[key][0].fullmatch(text):
            return f"{text!r} is not like {_SHAPES[key][1]}, {getattr(self, key)} stays"
        problem = None
        value: object = text
        if kind is bool:
            value = text.lower() == "true"
            if text.lower() not in ("true", "false"):
                problem = f"{text!r} is neither true nor false, taken as false"
        elif kind is int:
            try:
                value = number = _number(text)
            except ValueError:
                return f"{text!r} is no whole number, {getattr(self, key)} stays"
            if key in _JOURNAL and number < 1:
                return f"{text!r} is less than 1, {getattr(self, key)} stays"
        setattr(self, key, value)
        self.generation += 1
        return problem

    def protect(self) -> None:
        """Fix the keys that no request may change. Call this once, when the configuration is complete."""
        listed = {key.strip() for key in self.configBlackList.split(";")}
        self.protected = _PROTECTED | listed

    def update(self, changes: Mapping[str, str]) -> SettingsChanged:
        """Apply the keys of UPDATE_NAMESRV_CONFIG. Unknown keys are ignored.

        Raises NoPermission, without a change, if one of the keys is protected.
        """
        if self.protected.intersection(changes) or any(map(self._is_delicate, changes)):
            raise NoPermission("Can not update config in black list.")
        before = self._texts()
        for key, text in changes.items():
            if key in _KINDS or key in self.others:
                self.set(key, text)
        after = self._texts()
        return SettingsChanged(
            tuple(
                SettingChange(key, before.get(key), text)
                for key, text in after.items()
                if text != before.get(key)
            )
        )

    def _is_delicate(self, key: str) -> bool:
        return key in self.others and _DELICATE.search(key) is not None

    def restore(self, items: Mapping[str, str]) -> None:
        """Go back to earlier settings, because the later changes could not be saved."""
        for key in _NULL.difference(items):
            setattr(self, key, None)
        for key, text in {**_QUIET, **items}.items():
            self.set(key, text)

    def _texts(self) -> dict[str, str]:
        """All keys with their texts, including those that are not shown."""
        return {**_QUIET, **self.items()}

    def items(self) -> dict[str, str]:
        """The shown keys with their texts, sorted. Keys that are null or not in use are left out."""
        unused = {key for key in SECURITY if not getattr(self, key)}
        unused.update(key for key, usual in _QUIET.items() if _text(getattr(self, key)) == usual)
        unused.update(key for key, usual in DEFAULTS.items() if getattr(self, key) == usual)
        if self.journalDir is None:
            unused.update(_JOURNAL)
        shown = {key: getattr(self, key) for key in _KINDS if key not in unused}
        known = {key: _text(value) for key, value in shown.items() if value is not None}
        return dict(sorted({**self.others, **known}.items()))

    def limits(self) -> Limits:
        """The size limits for decoding."""
        return Limits(
            effective(self.maxFrameBytes),
            effective(self.maxHeaderBytes),
            effective(self.maxExtFields),
            effective(self.maxJsonDepth),
            effective(self.maxRegistrationBytes),
            effective(self.maxTopicsPerRegistration),
            effective(self.maxMappingsPerRegistration),
            effective(self.maxFilterServersPerRegistration),
            effective(self.maxOddRegistrationBytes),
        )

    def body(self, really: Mapping[str, str] = MappingProxyType({})) -> bytes:
        """The lines `key=value` of GET_NAMESRV_CONFIG and of `-p`. `actual_settings` take precedence."""
        items = {**self.items(), **really}
        return "".join(f"{key}={items[key]}\n" for key in sorted(items)).encode("utf-8", "replace")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> int:
    if not text.lstrip("+-").isdecimal():
        raise ValueError(text)
    number = int(text)
    if not -(2**31) <= number < 2**31:
        raise ValueError(text)
    return number


_KINDS: dict[str, type] = {
    item.name: str if item.default is None or isinstance(item.default, str) else type(item.default)
    for item in fields(Settings)
    if item.name not in ("others", "hidden", "tls", "generation", "protected")
}
_NULL = frozenset(item.name for item in fields(Settings) if item.name in _KINDS and item.default is None)

KEYS = frozenset(_KINDS)
"""All keys that this server knows."""
