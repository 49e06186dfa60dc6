"""Settings: every key of NamesrvConfig and NettyServerConfig, and which of them may change at run time.

The fields are named as the keys of the configuration file are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from namesrv_core.errors import NoPermission
from namesrv_core.events import SettingChange, SettingsChanged

_JOURNAL = (
    "journalDir", "journalFsync", "journalKeepDays", "journalKeepMegabytes", "journalSegmentHours",
    "journalSegmentMegabytes", "journalServerId", "journalSnapshotMinutes",
)  # fmt: skip
# A name server's memory is decided where it runs: no request can move, shorten or stop it.
_PROTECTED = frozenset({"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome", *_JOURNAL})

FSYNC = ("always", "interval", "never")
_CHOICES = {"journalFsync": FSYNC}


@dataclass(slots=True)
class Settings:
    """All settings with upstream's defaults; times are in ms unless the name says otherwise.

    `others` are keys that the configuration file had and no server knows; they are echoed.
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
    # Ours; shown where there is a journal.
    journalDir: str | None = None
    journalServerId: str | None = None
    journalFsync: str = "interval"
    journalSegmentMegabytes: int = 16
    journalSegmentHours: int = 24
    journalKeepMegabytes: int = 2048
    journalKeepDays: int = 400
    journalSnapshotMinutes: int = 60

    others: dict[str, str] = field(default_factory=dict)
    generation: int = 0
    protected: frozenset[str] = _PROTECTED

    def set(self, key: str, text: str) -> str | None:
        """Set a key from its text, which is trimmed. What is wrong with it, in words, or None.

        A bad number leaves the key as it is; a flag that is not "true" is false, as upstream reads it.
        """
        text = text.strip()
        kind = _KINDS.get(key)
        if kind is None:
            self.others[key] = text
            return "unknown key, shown and not used"
        if text not in _CHOICES.get(key, (text,)):
            return f"{text!r} is none of {', '.join(_CHOICES[key])}, {getattr(self, key)} stays"
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
        """Fix which keys no request may change; called once, when the configuration is complete."""
        listed = {key.strip() for key in self.configBlackList.split(";")}
        self.protected = _PROTECTED | listed

    def update(self, changes: Mapping[str, str]) -> SettingsChanged:
        """Apply the keys of UPDATE_NAMESRV_CONFIG; NoPermission, with nothing done, for a protected one.

        Keys that nobody knows are passed over.
        """
        if self.protected.intersection(changes):
            raise NoPermission("Can not update config in black list.")
        before = self.items()
        for key, text in changes.items():
            if key in _KINDS or key in self.others:
                self.set(key, text)
        after = self.items()
        return SettingsChanged(
            tuple(
                SettingChange(key, before.get(key), text)
                for key, text in after.items()
                if text != before.get(key)
            )
        )

    def restore(self, items: Mapping[str, str]) -> None:
        """Go back to settings of before: what has come since could not be kept."""
        for key, text in items.items():
            self.set(key, text)

    def items(self) -> dict[str, str]:
        """All keys with their texts, sorted; what is null is left out, and what no journal uses."""
        unused = _JOURNAL if self.journalDir is None else ()
        shown = {key: getattr(self, key) for key in _KINDS if key not in unused}
        known = {key: _text(value) for key, value in shown.items() if value is not None}
        return dict(sorted({**self.others, **known}.items()))

    def body(self) -> bytes:
        """`key=value` lines, as GET_NAMESRV_CONFIG answers and `-p` prints."""
        return "".join(f"{key}={text}\n" for key, text in self.items().items()).encode("utf-8", "replace")


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
    if item.name not in ("others", "generation", "protected")
}
