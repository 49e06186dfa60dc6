"""How proxies fared."""

from datetime import date
from typing import Any

from pyspark.sql import SparkSession

from nsreport.reports.proxy_health import proxy_health
from tests.support.ns_events import DAY, at
from tests.support.silver_rows import LOG_FACT, every, rows

NO_CONNECTION = (
    "reload topic route from namesrv. topic: T\n"
    "org.apache.rocketmq.remoting.exception.RemotingConnectException: connect to 10.0.0.1:9876 failed"
)


def proxy(seconds: list[float], kind: str, **more: Any) -> list[dict[str, Any]]:
    return every(seconds, server="p", kind=kind, value=1.0, line=1, **more)


def traffic(name: str, key: str, count: float) -> list[dict[str, Any]]:
    file = "/logs/p/proxy_traffic.log"
    return every([0, 60], server="p", kind="traffic", name=name, key=key, value=count, file=file)


def queue(file: str, name: str, key: str) -> list[dict[str, Any]]:
    return every([0], server="p", kind="waterMark", name=name, key=key, value=4.0, file=f"/logs/p/{file}")


def client(seconds: list[float], kind: str, group: str, key: str | None = "c") -> list[dict[str, Any]]:
    return proxy(seconds, kind, name=group, key=key)


def test_a_day_of_a_proxy(spark: SparkSession) -> None:
    facts = [
        *every([0], server="p", kind="lines", name="INFO", value=9.0, file="/logs/p/proxy.1.log.gz", line=1),
        *proxy([0, 500], "proxyBoot"),
        *proxy([400], "proxyShutdown"),
        *client([10, 510], "clientConnected", "G"),
        *client([20, 520], "clientConnected", "H"),
        *client([30], "clientConnected", "G", "d"),
        *client([40], "clientLeft", "G", "d"),
        *client([50], "clientLost", "H"),
        # What each remoting client has besides, and a client of another proxy.
        *client([60], "clientConnected", "CLIENT_INNER_PRODUCER", "e"),
        *client([70], "clientConnected", "G", None),
        *proxy([100, 120], "routeFailed", key="T", text=NO_CONNECTION),
        *proxy(
            [140], "routeFailed", key="U", text="reload topic route from namesrv. topic: U\nMQBrokerException"
        ),
        *proxy([150], "syncFailed"),
        *proxy([160, 170], "requestFailed"),
        *proxy([180], "complaint", name="WARN", file="/logs/p/proxy.log"),
        *traffic("Request", "105", 3.0),
        *traffic("Response", "0", 2.0),
        *queue("proxy_watermark.log", "GrpcRouteThreadPool", "queueSize"),
        # The broker of a proxy in local mode.
        *proxy([180], "complaint", name="WARN", file="/logs/p/broker.log"),
        *queue("watermark.log", "Send", "Size"),
        # A broker, which has no proxy.log.
        *every([0], server="b", kind="lines", value=9.0, file="/logs/b/broker.log"),
        *every([0], server="b", kind="clientConnected", name="G", key="c", value=1.0),
    ]
    [row] = proxy_health(rows(spark, LOG_FACT, *facts), at(0), at(DAY)).collect()
    assert row.asDict() == {
        "date": date(2025, 11, 21), "server": "p", "starts": 2, "stops": 1,
        "clients": 2, "peakClients": 3, "clientsLeft": 1, "clientsLost": 1,
        "routeFailures": 3, "failedTopics": 2, "nameServerFailures": 2,
        "unreachableServers": ["10.0.0.1:9876"],
        "syncFailures": 1, "requestErrors": 2, "unparsedWarnings": 1,
        "requests": {"105": 6.0}, "responses": {"0": 4.0},
        "waterMarks": {"GrpcRouteThreadPool queueSize": 4.0},
    }  # fmt: skip


def test_clients_of_the_day_before_still_count(spark: SparkSession) -> None:
    """A quiet day has a row, too."""
    facts = [
        *every([0, DAY, 2 * DAY], server="p", kind="lines", value=9.0, file="proxy.log"),
        *client([10, 20], "clientConnected", "G"),
        *client([DAY + 10], "clientConnected", "G"),
    ]
    found = proxy_health(rows(spark, LOG_FACT, *facts), at(DAY), at(3 * DAY)).orderBy("date").collect()
    assert [(row.date.day, row.clients, row.peakClients) for row in found] == [(22, 1, 3), (23, 0, None)]


def test_without_a_proxy_the_plan_is_known_to_be_empty(spark: SparkSession) -> None:
    """A run without logs of proxies starts no job for the report."""
    from nsreport.runtime import local_rows

    facts = local_rows.collect_locally(
        rows(spark, LOG_FACT, *every([0], server="b", kind="lines", value=9.0, file="broker.log"))
    )
    assert local_rows.is_known_empty(proxy_health(facts, at(0), at(DAY)))
