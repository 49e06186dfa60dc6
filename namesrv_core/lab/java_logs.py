"""What the log of a Java name server would say of the events in a journal, in the words of 4.9 or of 5.x.

Java says less than a journal: no heartbeats, no queues of a topic that another broker has already, no value
before; 5.x neither which topics went with a broker nor, of a slave, who it is. Where a journal does not know
what Java would write (versions of a conflict) there stands 0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import groupby
from pathlib import Path
from typing import Any

from namesrv_core.history.records import Record
from namesrv_core.storage import reading

DIALECTS = ("4.x", "5.x")
FILE = Path("logs", "rocketmqlogs", "namesrv.log")

_CLOCK = timezone(timedelta(hours=8))
_SCAN = 5_000
_EXPIRY = 120_000
_COUNT, _FIRST_COUNT = 600_000, 60_000
_BATCH = "org.apache.rocketmq.namesrv.routeinfo.BatchUnregistrationService"
_HEADER = "org.apache.rocketmq.remoting.protocol.header.namesrv.UnRegisterBrokerRequestHeader"

Line = tuple[int, str, str, str]
"""Time (ms, UTC), level, thread, message."""

Said = tuple[str | None, str]
"""The thread that says it, None for that of the request; and what it says."""

_WARNINGS = (
    "The broker channel expired",
    "Registering Broker",
    "Can't register",
    "NETTY SERVER PIPELINE: IDLE",
)


def write(folder: Path, servers: Iterable[str], dialect: str) -> None:
    """Beside the journal of each name server of a run, the log that Java would have written."""
    for server in servers:
        target = folder / server / FILE
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w", encoding="utf-8") as file:
            file.writelines(lines(reading.records(folder / server / "journal"), dialect))


def lines(records: Iterable[Record], dialect: str) -> Iterator[str]:
    """The lines of a log, each with its end."""
    for time, level, thread, message in _Log(dialect == "5.x").of(records):
        when = datetime.fromtimestamp(time // 1000, UTC).astimezone(_CLOCK)
        yield f"{when:%Y-%m-%d %H:%M:%S} {level} {thread} - {message}\n"


class _Log:
    """A name server's log as it goes on; `topics` are the queues by topic and broker name."""

    def __init__(self, is_new: bool) -> None:
        self.is_new = is_new
        self.topics: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[int, str]] = {}
        self.scanned_at: int | None = None
        self.counted_at: int | None = None
        self.requests = 0

    def of(self, records: Iterable[Record]) -> Iterator[Line]:
        for (time, cause, client, _), together in groupby(records, lambda record: record.origin):
            self.requests += 1
            thread = "main" if cause == "name server" else f"RemotingExecutorThread_{self.requests % 16 + 1}"
            # Java puts topics into its tables before the broker.
            for record in sorted(together, key=lambda record: record.type == "BrokerRegistered"):
                yield from self._scans(record, time)
                tell = getattr(self, f"_{record.type}", None)
                if tell is not None:
                    for thread_of, message in tell(record.fields, cause, client):
                        level = "WARN" if message.startswith(_WARNINGS) else "INFO"
                        yield time, level, thread_of or thread, message

    def _scans(self, record: Record, now: int) -> Iterator[Line]:
        """What it says while it runs: each ten minutes its KV config; 5.x that it looks for silent ones."""
        if record.type == "ServerStarted":
            self.scanned_at = self.counted_at = None
        until = now - (record.fields["pauseMillis"] if record.type == "ServerPaused" else 0)
        if self.scanned_at is not None and self.is_new:
            for time in range(self.scanned_at + _SCAN, until, _SCAN):
                yield time, "INFO", "NSScanScheduledThread", "start scanNotActiveBroker"
                self.scanned_at = time
        if self.counted_at is not None:
            for time in range(self.counted_at + _COUNT, until, _COUNT):
                yield time, "INFO", "NSScheduledThread", "configTable SIZE: 0"
                self.counted_at = time
        if record.type == "ServerReady":
            self.counted_at = now - _COUNT + _FIRST_COUNT
        if record.type in ("ServerReady", "ServerPaused"):
            self.scanned_at = now

    def _who(self, fields: Mapping[str, Any]) -> str:
        if not self.is_new:
            return str(fields["brokerAddr"])
        return f"BrokerIdentityInfo [clusterName={fields['clusterName']}, brokerAddr={fields['brokerAddr']}]"

    def _ServerStarted(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        self.topics.clear()
        self.groups.clear()
        yield "main", "kvConfigPath=kvConfig.json"

    def _ServerReady(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        where = f", address {fields['address']}" if self.is_new else ""
        yield "main", f"The Name Server boot success. serializeType=JSON{where}"

    def _ServerStopping(self, *_: Any) -> Iterator[Said]:
        yield "ShutdownHook", "shutdown hook was invoked, 1 times."

    def _BrokerRegistered(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        name, number, addr = fields["brokerName"], fields["brokerId"], fields["brokerAddr"]
        members = self.groups.setdefault(name, {})
        before = members.get(number)
        for other in [key for key, value in members.items() if value == addr]:
            del members[other]
        members[number] = addr
        if self.is_new:
            yield None, f"new broker registered, {self._who(fields)} HAService: {addr}"
            return
        if number == 0:
            moved = f"master address change from {before or 'null'} to {addr}"
            yield None, f"cluster [{fields['clusterName']}] brokerName [{name}] {moved}"
        yield None, f"new broker registered, {addr} HAServer: {addr}"

    def _RegistrationRefused(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        name, number = fields["brokerName"], fields["brokerId"]
        holder = self.groups.get(name, {}).get(number)
        if self.is_new and holder is None:
            stranger = f"broker[{number}]={fields['brokerAddr']}"
            yield None, f"Can't register topicConfigWrapper={{}} because {stranger} has not registered."
        elif self.is_new:
            place = f"Cluster:{fields['clusterName']}, BrokerName:{name}, BrokerId:{number}"
            old, new = f"Old BrokerAddr:{holder}, Old Version:0", f"New BrokerAddr:{fields['brokerAddr']}"
            what = "Registering Broker conflicts with the existed one, just ignore.: "
            yield None, f"{what}{place}, {old}, {new}, New Version:0."

    def _BrokerUnregistered(self, fields: Mapping[str, Any], cause: str, *_: Any) -> Iterator[Said]:
        name, number = fields["brokerName"], fields["brokerId"]
        members = self.groups.get(name, {})
        members.pop(number, None)
        if not members:
            self.groups.pop(name, None)
        tell = self._gone_new if self.is_new else self._gone_old
        yield from tell(fields, cause, is_last=not members)

    def _why(self, fields: Mapping[str, Any], cause: str) -> Iterator[Said]:
        if cause == "no heartbeat":
            thread = "NSScanScheduledThread" if self.is_new else "NSScheduledThread1"
            yield thread, f"The broker channel expired, {self._who(fields)} {_EXPIRY}ms"
        if cause == "channel idle":
            yield "NettyServerCodecThread_1", "NETTY SERVER PIPELINE: IDLE exception [127.0.0.1:0]"

    def _gone_new(self, fields: Mapping[str, Any], cause: str, *, is_last: bool) -> Iterator[Said]:
        yield from self._why(fields, cause)
        if cause != "UNREGISTER_BROKER":
            thread = "NSScanScheduledThread" if cause == "no heartbeat" else "NettyEventExecutor"
            unknown = f"broker info: {_HEADER}@{self.requests:x}, submit result: true"
            yield thread, f"the broker's channel destroyed, submit the unregister request at once, {unknown}"
        yield from self._unregistered(_BATCH, fields, is_last)

    def _unregistered(self, thread: str | None, fields: Mapping[str, Any], is_last: bool) -> Iterator[Said]:
        yield thread, f"unregisterBroker, remove from brokerLiveTable OK, {self._who(fields)}"
        yield thread, f"unregisterBroker, remove addr from brokerAddrTable OK, {self._who(fields)}"
        if is_last:
            yield thread, f"unregisterBroker, remove name from brokerAddrTable OK, {fields['brokerName']}"

    def _gone_old(self, fields: Mapping[str, Any], cause: str, *, is_last: bool) -> Iterator[Said]:
        if cause == "UNREGISTER_BROKER":
            yield from self._unregistered(None, fields, is_last)
            return
        yield from self._why(fields, cause)
        name, number, addr = fields["brokerName"], fields["brokerId"], fields["brokerAddr"]
        thread = "NSScheduledThread1" if cause == "no heartbeat" else "NettyEventExecutor"
        if cause != "no heartbeat":
            yield thread, f"the broker's channel destroyed, {addr}, clean it's data structure at once"
        because = "from brokerAddrTable, because channel destroyed"
        yield thread, f"remove brokerAddr[{number}, {addr}] {because}"
        if is_last:
            yield thread, f"remove brokerName[{name}] {because}"

    def _AddressForgotten(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        if self.is_new:
            yield _BATCH, f"unregisterBroker, remove from brokerLiveTable OK, {self._who(fields)}"

    def _TopicsChanged(self, fields: Mapping[str, Any], cause: str, *_: Any) -> Iterator[Said]:
        for topic, before, after in _each(fields["changes"]):
            is_first = not self.topics.get(topic)
            self._keep(topic, fields["brokerName"], after)
            if before is None and after is not None and is_first:
                yield None, f"new topic registered, {topic} {_queues(after)}"
            elif before is not None and after is not None:
                # That an acting master's topics are closed when their master goes, Java does in silence.
                if fields["reason"] != "unregistration":
                    yield None, f"topic changed, {topic} OLD: {_queues(before)} NEW: {_queues(after)}"
            elif before is not None and not self.is_new:
                yield self._topic_gone(topic, before, cause)

    def _topic_gone(self, topic: str, before: Mapping[str, Any], cause: str) -> Said:
        if cause == "UNREGISTER_BROKER":
            return None, f"removeTopicByBrokerName, remove one broker's topic {topic} {_queues(before)}"
        thread = "NSScheduledThread1" if cause == "no heartbeat" else "NettyEventExecutor"
        return (
            thread,
            f"remove topic[{topic} {_queues(before)}], from topicQueueTable, because channel destroyed",
        )

    def _TopicDeleted(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        for topic, before, _after in _each(fields["changes"]):
            self._keep(topic, before["brokerName"], None)
            # Without a cluster Java deletes a topic in silence.
            if fields.get("clusterName"):
                name = before["brokerName"]
                yield None, f"deleteTopic, remove one broker's topic {name} {topic} {_queues(before)}"

    def _keep(self, topic: str, name: str, queues: Mapping[str, Any] | None) -> None:
        if queues is not None:
            self.topics.setdefault(topic, {})[name] = queues
        elif self.topics.get(topic, {}).pop(name, None) and not self.topics[topic]:
            del self.topics[topic]

    def _WritePermWiped(self, fields: Mapping[str, Any], cause: str, client: str | None) -> Iterator[Said]:
        yield None, f"wipe write perm of broker[{fields['brokerName']}], client: {client}, {fields['topics']}"

    def _WritePermAdded(self, fields: Mapping[str, Any], cause: str, client: str | None) -> Iterator[Said]:
        yield None, f"add write perm of broker[{fields['brokerName']}], client: {client}, {fields['topics']}"

    def _KvPut(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        how = "update" if "before" in fields else "create new"
        yield None, f"putKVConfig {how} config item, {_item(fields, fields.get('value'))}"

    def _KvDeleted(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        yield None, f"deleteKVConfig delete a config item, {_item(fields, fields.get('before'))}"

    def _SettingsChanged(self, fields: Mapping[str, Any], cause: str, client: str | None) -> Iterator[Said]:
        yield None, f"updateConfig called by {client}"
        for change in fields["settingChanges"]:
            what = f"{change.get('before')} -> {change.get('after')}"
            yield None, f"Replace, key: {change['key']}, value: {what}"

    def _MinBrokerIdChanged(self, fields: Mapping[str, Any], *_: Any) -> Iterator[Said]:
        if self.is_new:
            told = ", ".join(fields["recipients"])
            offline = f"offline broker addr {fields.get('offlineBrokerAddr', 'null')}"
            yield None, f"min broker id changed to {fields['minBrokerId']}, notify [{told}], {offline}"


def _each(changes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any, Any]]:
    for change in changes:
        for topic in change["topics"]:
            yield topic, change.get("before"), change.get("after")


def _queues(data: Mapping[str, Any]) -> str:
    names = ("brokerName", "readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    return f"QueueData [{', '.join(f'{name}={data[name]}' for name in names)}]"


def _item(fields: Mapping[str, Any], value: str | None) -> str:
    return f"Namespace: {fields['namespace']} Key: {fields['key']} Value: {value}"
