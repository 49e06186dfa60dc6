"""Java logs: the log lines of a Java name server (4.9 or 5.x) for the events of a journal.

Java logs less than a journal has: no heartbeats, no queues of a topic that another broker already has, and no
earlier values. 5.x logs neither the removed topics of a broker nor the name of a slave. Values that a journal
does not have (versions of a conflict) are 0.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from namesrv_core.history.records import JournalRecord
from namesrv_core.storage.journal import reader

LOG_DIALECTS = ("4.x", "5.x")
LOG_FILE = Path("logs", "rocketmqlogs", "namesrv.log")

_LOG_TIMEZONE = timezone(timedelta(hours=8))
_SCAN_PERIOD_MS = 5_000
_EXPIRY_MS = 120_000
_KV_PRINT_PERIOD_MS, _FIRST_KV_PRINT_MS = 600_000, 60_000
_BATCH_THREAD = "org.apache.rocketmq.namesrv.routeinfo.BatchUnregistrationService"
_UNREGISTER_HEADER_CLASS = (
    "org.apache.rocketmq.remoting.protocol.header.namesrv.UnRegisterBrokerRequestHeader"
)

LogLine = tuple[int, str, str, str]
"""Time (ms, UTC), level, thread, message."""

ThreadMessage = tuple[str | None, str]
"""The name of the logging thread (None: the thread of the request), and the message."""

EventDescriber = Callable[[Mapping[str, Any], str, str | None], Iterator[ThreadMessage]]
"""The messages about an event: its fields, its cause, and the address of the client that caused it."""

_WARNING_PREFIXES = (
    "The broker channel expired",
    "Registering Broker",
    "Can't register",
    "NETTY SERVER PIPELINE: IDLE",
)


def write_logs(run_folder: Path, server_names: Iterable[str], dialect: str) -> None:
    """Write a Java log next to the journal of each name server of a run."""
    for name in server_names:
        log_path = run_folder / name / LOG_FILE
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("w", encoding="utf-8") as log_file:
            log_file.writelines(format_lines(reader.read_records(run_folder / name / "journal"), dialect))


def format_lines(records: Iterable[JournalRecord], dialect: str) -> Iterator[str]:
    for time_ms, log_level, thread_name, message in _JavaLog(dialect == "5.x").describe_records(records):
        local_time = datetime.fromtimestamp(time_ms // 1000, UTC).astimezone(_LOG_TIMEZONE)
        yield f"{local_time:%Y-%m-%d %H:%M:%S} {log_level} {thread_name} - {message}\n"


class _JavaLog:
    """The log of one name server, built event by event. `topics` has the queues by topic and broker name."""

    def __init__(self, is_dialect_5: bool) -> None:
        self.is_dialect_5 = is_dialect_5
        self.queues_by_topic: dict[str, dict[str, Any]] = {}
        self.members_by_name: dict[str, dict[int, str]] = {}
        self.scanned_at_ms: int | None = None
        self.kv_printed_at_ms: int | None = None
        self.pauses: list[tuple[int, int]] = []
        self.request_count = 0
        self._describers_by_type: Mapping[str, EventDescriber] = {
            "ServerStarted": self._describe_server_start,
            "ServerReady": self._describe_server_ready,
            "ServerStopping": self._describe_server_stop,
            "BrokerRegistered": self._describe_registration,
            "RegistrationRefused": self._describe_refusal,
            "BrokerUnregistered": self._describe_unregistration,
            "AddressForgotten": self._describe_forgotten_address,
            "TopicsChanged": self._describe_topic_changes,
            "TopicDeleted": self._describe_topic_deletion,
            "WritePermWiped": partial(self._describe_permission, "wipe"),
            "WritePermAdded": partial(self._describe_permission, "add"),
            "KvPut": self._describe_kv_put,
            "KvDeleted": self._describe_kv_deletion,
            "SettingsChanged": self._describe_setting_changes,
            "MinBrokerIdChanged": self._describe_min_id_change,
        }

    def describe_records(self, records: Iterable[JournalRecord]) -> Iterator[LogLine]:
        records = list(records)
        # A process that continues handles the requests that arrived meanwhile before it notes the pause.
        self.pauses = [
            (record.time_ms - record.event_fields["pauseMillis"], record.time_ms)
            for record in records
            if record.event_type == "ServerPaused"
        ]
        for (time_ms, cause, client_addr, _), request_records in groupby(records, lambda r: r.origin):
            self.request_count += 1
            request_thread = (
                "main" if cause == "name server" else f"RemotingExecutorThread_{self.request_count % 16 + 1}"
            )
            # Java adds the topics to its tables before the broker.
            for record in sorted(request_records, key=lambda record: record.event_type == "BrokerRegistered"):
                yield from self._periodic_lines(record, time_ms)
                describe_event = self._describers_by_type.get(record.event_type)
                if describe_event is not None:
                    for message_thread, message in describe_event(record.event_fields, cause, client_addr):
                        log_level = "WARN" if message.startswith(_WARNING_PREFIXES) else "INFO"
                        yield time_ms, log_level, message_thread or request_thread, message

    def _periodic_lines(self, record: JournalRecord, now_ms: int) -> Iterator[LogLine]:
        """The KV config every ten minutes, or after a pause; in 5.x each scan for silent brokers."""
        if record.event_type == "Snapshot" and record.event_fields["reason"] == "start":
            self.scanned_at_ms = self.kv_printed_at_ms = None
        until_ms = next((since_ms for since_ms, end_ms in self.pauses if since_ms < now_ms <= end_ms), now_ms)
        log_lines: list[LogLine] = []
        if self.scanned_at_ms is not None and self.is_dialect_5:
            for time_ms in range(self.scanned_at_ms + _SCAN_PERIOD_MS, until_ms, _SCAN_PERIOD_MS):
                log_lines.append((time_ms, "INFO", "NSScanScheduledThread", "start scanNotActiveBroker"))
                self.scanned_at_ms = time_ms
        if self.kv_printed_at_ms is not None:
            for time_ms in range(self.kv_printed_at_ms + _KV_PRINT_PERIOD_MS, until_ms, _KV_PRINT_PERIOD_MS):
                log_lines.append((time_ms, "INFO", "NSScheduledThread", "configTable SIZE: 0"))
                self.kv_printed_at_ms = time_ms
        yield from sorted(log_lines)
        if record.event_type == "ServerReady":
            self.kv_printed_at_ms = now_ms - _KV_PRINT_PERIOD_MS + _FIRST_KV_PRINT_MS
        if record.event_type in ("ServerReady", "ServerPaused"):
            self.scanned_at_ms = now_ms
        if record.event_type == "ServerPaused" and self.kv_printed_at_ms is not None:
            self.kv_printed_at_ms = max(self.kv_printed_at_ms, now_ms - _KV_PRINT_PERIOD_MS)

    def _broker_identity(self, fields: Mapping[str, Any]) -> str:
        if not self.is_dialect_5:
            return str(fields["brokerAddr"])
        return f"BrokerIdentityInfo [clusterName={fields['clusterName']}, brokerAddr={fields['brokerAddr']}]"

    def _describe_server_start(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        self.queues_by_topic.clear()
        self.members_by_name.clear()
        yield "main", "kvConfigPath=kvConfig.json"

    def _describe_server_ready(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        address_suffix = f", address {fields['address']}" if self.is_dialect_5 else ""
        yield "main", f"The Name Server boot success. serializeType=JSON{address_suffix}"

    def _describe_server_stop(self, *_: Any) -> Iterator[ThreadMessage]:
        yield "ShutdownHook", "shutdown hook was invoked, 1 times."

    def _describe_registration(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        broker_name, broker_id = fields["brokerName"], fields["brokerId"]
        broker_addr = fields["brokerAddr"]
        members = self.members_by_name.setdefault(broker_name, {})
        previous_addr = members.get(broker_id)
        for moved_id in [i for i, addr in members.items() if addr == broker_addr]:
            del members[moved_id]
        members[broker_id] = broker_addr
        if self.is_dialect_5:
            yield (None, f"new broker registered, {self._broker_identity(fields)} HAService: {broker_addr}")
            return
        if broker_id == 0:
            address_change = f"master address change from {previous_addr or 'null'} to {broker_addr}"
            yield None, f"cluster [{fields['clusterName']}] brokerName [{broker_name}] {address_change}"
        yield None, f"new broker registered, {broker_addr} HAServer: {broker_addr}"

    def _describe_refusal(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        broker_name, broker_id = fields["brokerName"], fields["brokerId"]
        holder_addr = self.members_by_name.get(broker_name, {}).get(broker_id)
        if self.is_dialect_5 and holder_addr is None:
            broker_text = f"broker[{broker_id}]={fields['brokerAddr']}"
            yield None, f"Can't register topicConfigWrapper={{}} because {broker_text} has not registered."
        elif self.is_dialect_5:
            place = f"Cluster:{fields['clusterName']}, BrokerName:{broker_name}, BrokerId:{broker_id}"
            holder_text = f"Old BrokerAddr:{holder_addr}, Old Version:0"
            newcomer_text = f"New BrokerAddr:{fields['brokerAddr']}"
            conflict_text = "Registering Broker conflicts with the existed one, just ignore.: "
            yield None, f"{conflict_text}{place}, {holder_text}, {newcomer_text}, New Version:0."

    def _describe_unregistration(
        self, fields: Mapping[str, Any], cause: str, *_: Any
    ) -> Iterator[ThreadMessage]:
        broker_name, broker_id = fields["brokerName"], fields["brokerId"]
        members = self.members_by_name.get(broker_name, {})
        members.pop(broker_id, None)
        if not members:
            self.members_by_name.pop(broker_name, None)
        describe_loss = self._describe_loss_5 if self.is_dialect_5 else self._describe_loss_4
        yield from describe_loss(fields, cause, is_last=not members)

    def _loss_reason(self, fields: Mapping[str, Any], cause: str) -> Iterator[ThreadMessage]:
        if cause == "no heartbeat":
            scan_thread = "NSScanScheduledThread" if self.is_dialect_5 else "NSScheduledThread1"
            yield (scan_thread, f"The broker channel expired, {self._broker_identity(fields)} {_EXPIRY_MS}ms")
        if cause == "channel idle":
            yield "NettyServerCodecThread_1", "NETTY SERVER PIPELINE: IDLE exception [127.0.0.1:0]"

    def _describe_loss_5(
        self, fields: Mapping[str, Any], cause: str, *, is_last: bool
    ) -> Iterator[ThreadMessage]:
        yield from self._loss_reason(fields, cause)
        if cause != "UNREGISTER_BROKER":
            event_thread = "NSScanScheduledThread" if cause == "no heartbeat" else "NettyEventExecutor"
            result = f"broker info: {_UNREGISTER_HEADER_CLASS}@{self.request_count:x}, submit result: true"
            yield (
                event_thread,
                f"the broker's channel destroyed, submit the unregister request at once, {result}",
            )
        yield from self._unregistration_messages(_BATCH_THREAD, fields, is_last)

    def _unregistration_messages(
        self, thread_name: str | None, fields: Mapping[str, Any], is_last: bool
    ) -> Iterator[ThreadMessage]:
        identity, removal = self._broker_identity(fields), "unregisterBroker, remove"
        yield thread_name, f"{removal} from brokerLiveTable OK, {identity}"
        yield thread_name, f"{removal} addr from brokerAddrTable OK, {identity}"
        if is_last:
            yield thread_name, f"{removal} name from brokerAddrTable OK, {fields['brokerName']}"

    def _describe_loss_4(
        self, fields: Mapping[str, Any], cause: str, *, is_last: bool
    ) -> Iterator[ThreadMessage]:
        if cause == "UNREGISTER_BROKER":
            yield from self._unregistration_messages(None, fields, is_last)
            return
        yield from self._loss_reason(fields, cause)
        broker_name = fields["brokerName"]
        broker_id = fields["brokerId"]
        broker_addr = fields["brokerAddr"]
        event_thread = "NSScheduledThread1" if cause == "no heartbeat" else "NettyEventExecutor"
        if cause != "no heartbeat":
            yield (
                event_thread,
                f"the broker's channel destroyed, {broker_addr}, clean it's data structure at once",
            )
        removal_reason = "from brokerAddrTable, because channel destroyed"
        yield event_thread, f"remove brokerAddr[{broker_id}, {broker_addr}] {removal_reason}"
        if is_last:
            yield event_thread, f"remove brokerName[{broker_name}] {removal_reason}"

    def _describe_forgotten_address(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        if self.is_dialect_5:
            identity = self._broker_identity(fields)
            yield _BATCH_THREAD, f"unregisterBroker, remove from brokerLiveTable OK, {identity}"

    def _describe_topic_changes(
        self, fields: Mapping[str, Any], cause: str, *_: Any
    ) -> Iterator[ThreadMessage]:
        for topic, queues_before, queues_after in _each_topic_change(fields["changes"]):
            is_first = not self.queues_by_topic.get(topic)
            self._remember_queues(topic, fields["brokerName"], queues_after)
            if queues_before is None and queues_after is not None and is_first:
                yield None, f"new topic registered, {topic} {_queue_data_text(queues_after)}"
            elif queues_before is not None and queues_after is not None:
                # Java logs nothing when it makes an acting master's topics read-only.
                if fields["reason"] != "unregistration":
                    yield (
                        None,
                        f"topic changed, {topic} OLD: {_queue_data_text(queues_before)} NEW: "
                        f"{_queue_data_text(queues_after)}",
                    )
            elif queues_before is not None and not self.is_dialect_5:
                yield self._topic_removal_message(topic, queues_before, cause)

    def _topic_removal_message(self, topic: str, before: Mapping[str, Any], cause: str) -> ThreadMessage:
        if cause == "UNREGISTER_BROKER":
            return (
                None,
                f"removeTopicByBrokerName, remove one broker's topic {topic} {_queue_data_text(before)}",
            )
        event_thread = "NSScheduledThread1" if cause == "no heartbeat" else "NettyEventExecutor"
        return (
            event_thread,
            f"remove topic[{topic} {_queue_data_text(before)}], from topicQueueTable, "
            f"because channel destroyed",
        )

    def _describe_topic_deletion(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        for topic, queues_before, _queues_after in _each_topic_change(fields["changes"]):
            self._remember_queues(topic, queues_before["brokerName"], None)
            # Java logs nothing when it deletes a topic in all clusters.
            if fields.get("clusterName"):
                broker_name = queues_before["brokerName"]
                yield (
                    None,
                    f"deleteTopic, remove one broker's topic {broker_name} {topic} "
                    f"{_queue_data_text(queues_before)}",
                )

    def _remember_queues(self, topic: str, broker_name: str, queue_data: Mapping[str, Any] | None) -> None:
        if queue_data is not None:
            self.queues_by_topic.setdefault(topic, {})[broker_name] = queue_data
        elif self.queues_by_topic.get(topic, {}).pop(broker_name, None) and not self.queues_by_topic[topic]:
            del self.queues_by_topic[topic]

    def _describe_permission(
        self, verb: str, fields: Mapping[str, Any], cause: str, client_addr: str | None
    ) -> Iterator[ThreadMessage]:
        broker_text = f"broker[{fields['brokerName']}], client: {client_addr}, {fields['topics']}"
        yield None, f"{verb} write perm of {broker_text}"

    def _describe_kv_put(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        kind = "update" if "before" in fields else "create new"
        yield (None, f"putKVConfig {kind} config item, {_config_item_text(fields, fields.get('value'))}")

    def _describe_kv_deletion(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        yield (
            None,
            f"deleteKVConfig delete a config item, {_config_item_text(fields, fields.get('before'))}",
        )

    def _describe_setting_changes(
        self, fields: Mapping[str, Any], cause: str, client_addr: str | None
    ) -> Iterator[ThreadMessage]:
        yield None, f"updateConfig called by {client_addr}"
        for setting_change in fields["settingChanges"]:
            change_text = f"{setting_change.get('before')} -> {setting_change.get('after')}"
            yield None, f"Replace, key: {setting_change['key']}, value: {change_text}"

    def _describe_min_id_change(self, fields: Mapping[str, Any], *_: Any) -> Iterator[ThreadMessage]:
        if self.is_dialect_5:
            recipient_list = ", ".join(fields["recipients"])
            text = f"offline broker addr {fields.get('offlineBrokerAddr', 'null')}"
            yield (
                None,
                f"min broker id changed to {fields['minBrokerId']}, notify [{recipient_list}], {text}",
            )


def _each_topic_change(topic_changes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any, Any]]:
    for topic_change in topic_changes:
        for topic in topic_change["topics"]:
            yield topic, topic_change.get("before"), topic_change.get("after")


def _queue_data_text(queue_data: Mapping[str, Any]) -> str:
    field_names = ("brokerName", "readQueueNums", "writeQueueNums", "perm", "topicSysFlag")
    return f"QueueData [{', '.join(f'{field_name}={queue_data[field_name]}' for field_name in field_names)}]"


def _config_item_text(fields: Mapping[str, Any], config_value: str | None) -> str:
    return f"Namespace: {fields['namespace']} Key: {fields['key']} Value: {config_value}"
