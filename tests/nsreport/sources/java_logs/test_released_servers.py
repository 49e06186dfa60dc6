"""What happened to real name servers of 5.5.0 and 4.9.7, found by the pipeline in their logs alone."""

import os
import re
import signal
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from nsreport.sources.input_files import LOG_PATTERNS
from nsreport.sources.java_logs import log_parser
from tests.interop import archive_training, jars, wire
from tests.interop.cluster import brokers, create_topic, route, wait_for_broker, wait_for_topic
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker, JavaNameServer, jvm, write_properties
from tests.interop.processes import Child, wait_for
from tests.nsreport.sources.java_logs.conftest import messages, rows

pytestmark = pytest.mark.interop

RELEASES = (jars.NEWEST, jars.OLD)
TOPIC = "Orders"

# 4.9 has its logback files in the source tree only; these have the same patterns, loggers and names of files.
_LOGBACK = """\
<configuration>
  {appenders}
  {loggers}
  <root level="OFF"/>
</configuration>
"""
_APPENDER = """\
<appender name="{file}" class="ch.qos.logback.core.FileAppender">
    <file>${{user.home}}/logs/rocketmqlogs/{file}.log</file>
    <encoder><pattern>{pattern}%n</pattern><charset>UTF-8</charset></encoder>
  </appender>
"""
_LOGGER = '<logger name="{name}" level="INFO" additivity="false"><appender-ref ref="{file}"/></logger>\n'
_TIME = "%d{yyy-MM-dd HH:mm:ss,GMT+8}"
_PATTERNS = {
    "namesrv": f"{_TIME} %p %t - %m",
    "broker": f"{_TIME} %p %t - %m",
    "stats": f"{_TIME} %p - %m",
    "watermark": f"{_TIME} - %m",
}
_FILES = {
    "namesrv": {"RocketmqNamesrv": "namesrv", "RocketmqCommon": "namesrv", "RocketmqRemoting": "namesrv"},
    "broker": {"RocketmqBroker": "broker", "RocketmqStats": "stats", "RocketmqWaterMark": "watermark"},
}


def write_old_logback(home: Path) -> None:
    for part, loggers in _FILES.items():
        appenders = [
            _APPENDER.format(file=file, pattern=_PATTERNS[file]) for file in sorted({*loggers.values()})
        ]
        named = [_LOGGER.format(name=name, file=file) for name, file in loggers.items()]
        target = home / "conf" / f"logback_{part}.xml"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_LOGBACK.format(appenders="".join(appenders), loggers="".join(named)))
    (home / "logback.xml").write_text("<configuration/>")


class Aging(JavaNameServer):
    """A name server whose brokers can be made to have been silent for too long."""

    def start(self) -> None:
        write_properties(self.config_file, self._config)
        main = "org.apache.rocketmq.namesrv.NamesrvStartup"
        begin = jvm(self.version, main, self.home, self._flags)
        program = [*begin, *jars.program("AgingNamesrv", self.version), "-c", str(self.config_file)]
        self.child = Child(program, self.home / "stdout.log", talks=True)
        self.child.wait_for_line("The Name Server boot success", 60)

    def age(self, address: str) -> None:
        self.child.write(f"{address}\n")


class Choreography:
    """A name server and two brokers of a release, and what is done to them, one after the other."""

    def __init__(self, home: Path, version: str) -> None:
        self.home, self.is_old = home, version == jars.OLD
        kind = Aging if self.is_old else JavaNameServer
        own = {} if self.is_old else {"scanNotActiveBrokerInterval": "1000"}
        self.server = kind(home / "ns", own, version)
        quick: dict[str, object] = {**WITHOUT_TIMER, "registerNameServerPeriod": "10000"}
        short = {"enableSlaveActingMaster": "true", "brokerNotActiveTimeoutMillis": "10000"}
        self.a = JavaBroker(home / "a", [self.server.address], version=version, config=quick)
        settings = quick if self.is_old else {**quick, **short}
        self.b = JavaBroker(home / "b", [self.server.address], "broker-b", version=version, config=settings)
        if self.is_old:
            for part in (self.server, self.a, self.b):
                write_old_logback(part.home)

    def run(self) -> None:
        with ExitStack() as ends, ThreadPoolExecutor() as pool:
            ends.enter_context(self.server)
            for broker in pool.map(lambda part: part.__enter__(), (self.a, self.b)):
                ends.push(broker)
            for broker in (self.a, self.b):
                wait_for_broker([self.server], broker.name)
            self._of_operators()
            self._of_brokers()
            self._of_the_server()

    def _ask(self, code: int, ext: dict[str, str], body: bytes = b"") -> None:
        answer = wire.ask(self.server.port, code, ext, body)
        assert answer.code == 0, answer

    def _of_operators(self) -> None:
        create_topic(self.a.port, TOPIC)
        wait_for_topic([self.server], TOPIC)
        self._ask(100, {"namespace": "N", "key": "k", "value": "v"})
        self._ask(100, {"namespace": "N", "key": "k", "value": "w"})
        self._ask(102, {"namespace": "N", "key": "k"})
        self._ask(318, {}, b"serverWorkerThreads=9\n")
        self._ask(205, {"brokerName": "broker-a"})
        create_topic(self.a.port, TOPIC, 8)
        wait_for("the undone wipe", lambda: self._perm() == 6)
        self._ask(327, {"brokerName": "broker-a"})
        self._ask(216, {"topic": TOPIC, "clusterName": "DefaultCluster"})

    def _perm(self) -> int:
        current_route = route(self.server, TOPIC)
        return int(current_route["queueDatas"][0]["perm"]) if current_route else 0

    def _of_brokers(self) -> None:
        self.b.kill()
        self._until_gone()
        self.b.start()
        wait_for_broker([self.server], "broker-b")
        os.kill(self.b.child.pid, signal.SIGSTOP)
        try:
            if isinstance(self.server, Aging):
                self.server.age(self.b.address)
            self._until_gone()
        finally:
            os.kill(self.b.child.pid, signal.SIGCONT)
        wait_for_broker([self.server], "broker-b")
        time.sleep(1.1)  # The log has whole seconds: the broker must not end in the second of its return.
        os.kill(self.b.child.pid, signal.SIGTERM)
        self._until_gone()
        self.b.kill()

    def _until_gone(self) -> None:
        wait_for("broker-b's end", lambda: "broker-b" not in brokers(self.server), interval=0.2)

    def _of_the_server(self) -> None:
        os.kill(self.server.child.pid, signal.SIGTERM)
        self.server.child.wait(60)
        self.server.start()
        wait_for_broker([self.server], "broker-a")


Events = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def log_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive_training.prepare_releases()
    home = tmp_path_factory.mktemp("java-logs")
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda version: Choreography(home / version, version).run(), RELEASES))
    return home


@pytest.fixture(scope="module")
def events_by_release(spark: SparkSession, log_folder: Path) -> Events:
    """The events of each name server's log, by release."""
    logs: dict[str, dict[str, str]] = defaultdict(dict)
    for file in sorted(log_folder.glob("*/*/logs/rocketmqlogs/*.log")):
        if any(re.fullmatch(name, file.name) for name in LOG_PATTERNS.values()):
            logs["/".join(file.relative_to(log_folder).parts[:2])][file.name] = file.read_text()
    parsed = log_parser.parse_logs(messages(spark, logs).localCheckpoint())
    events = rows(parsed.event_rows.orderBy("server", "time", "sourceLine").collect())
    assert parsed.quarantine_rows.collect() == []
    return {
        version: [event for event in events if event["server"] == f"{version}/ns"] for version in RELEASES
    }


def of(events: list[dict[str, Any]], *types: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] in types]


@pytest.mark.parametrize("version", RELEASES)
def test_brokers_come_and_go_for_the_reasons_that_they_had(events_by_release: Events, version: str) -> None:
    event_causes = [
        (event["type"], event["cause"])
        for event in of(events_by_release[version], "BrokerRegistered", "BrokerUnregistered")
        if event["brokerName"] == "broker-b"
    ]
    came = ("BrokerRegistered", "REGISTER_BROKER")
    assert event_causes == [
        came, ("BrokerUnregistered", "channel closed"),
        came, ("BrokerUnregistered", "no heartbeat"),
        came, ("BrokerUnregistered", "UNREGISTER_BROKER"),
    ]  # fmt: skip
    places = {
        (event["clusterName"], event["brokerName"], event["brokerId"])
        for event in of(events_by_release[version], "BrokerRegistered", "BrokerUnregistered")
    }
    assert places == {("DefaultCluster", "broker-a", 0), ("DefaultCluster", "broker-b", 0)}


@pytest.mark.parametrize("version", RELEASES)
def test_a_wipe_its_undoing_and_who_asked(events_by_release: Events, version: str) -> None:
    [wiped], [added] = (
        of(events_by_release[version], "WritePermWiped"),
        of(events_by_release[version], "WritePermAdded"),
    )
    assert {wiped["brokerName"], added["brokerName"]} == {"broker-a"}
    assert wiped["client"].startswith("127.0.0.1:")
    changes = [
        (change["before"] and change["before"]["perm"], change["after"] and change["after"]["perm"])
        for event in of(events_by_release[version], "TopicsChanged")
        for change in event["changes"]
        if change["topics"] == [TOPIC]
    ]
    assert changes[:2] == [(None, 6), (4, 6)]


@pytest.mark.parametrize("version", RELEASES)
def test_topics_kv_and_settings(events_by_release: Events, version: str) -> None:
    events = events_by_release[version]
    assert [event["topic"] for event in of(events, "TopicDeleted")] == [TOPIC]
    kv = of(events, "KvPut", "KvDeleted")
    assert [(event.get("before"), event.get("value")) for event in kv] == [
        (None, "v"),
        ("v", "w"),
        ("w", None),
    ]
    [setting] = of(events, "SettingsChanged")
    assert setting["settingChanges"] == [{"key": "serverWorkerThreads", "before": "8", "after": "9"}]


@pytest.mark.parametrize("version", RELEASES)
def test_the_server_starts_ends_and_starts_again(events_by_release: Events, version: str) -> None:
    once = ["ServerStarted", "ServerReady"]
    events = of(events_by_release[version], *once, "ServerStopping")
    assert [event["type"] for event in events] == [*once, "ServerStopping", *once]
    assert {event["dialect"] for event in events_by_release[version]} == {
        "4.x" if version == jars.OLD else "5.x"
    }
