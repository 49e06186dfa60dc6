"""The rows of whatIf --down-proxy."""

from namesrv_core.errors import RocketMQError
from nsadmin.client.proxies.cluster_clients import ClusterClient
from nsadmin.commands.procedures.outage_rows import build_connection_rows, describe_proxy_outage
from nsadmin.operations.what_if.proxy_outage import GroupConnectionLoss, ProxyOutage

NAMED = ClusterClient("a", "h:1", None, None, "gRPC", ("G",), (), ("p1:8080",))
NAMELESS = ClusterClient(None, "h:2", None, None, "gRPC", None, None, ("p1:8080",))
OUTAGE = ProxyOutage(
    [GroupConnectionLoss("H", 1, 0), GroupConnectionLoss("G", 3, 2)],
    [NAMED, NAMELESS],
    ["p3:8080"],
    {"p2:8080": RocketMQError("no answer")},
)


def test_groups_and_one_row_for_connections_without_a_client() -> None:
    rows = build_connection_rows(OUTAGE, False)
    assert [row[:4] for row in rows] == [
        ("group", "H", 1, "no client remains"),
        ("group", "G", 1, "fewer clients remain"),
        ("connections", "h:2, ...", 1, "lose the proxy; their clients are unknown, such as producers"),
    ]


def test_each_client_in_detail() -> None:
    rows = build_connection_rows(OUTAGE, True)
    assert [row[:2] for row in rows[2:]] == [("client", "a"), ("connection", "h:2")]


def test_without_such_connections_there_is_no_row_for_them() -> None:
    assert len(build_connection_rows(OUTAGE._replace(lost_clients=[NAMED]), False)) == 2


def test_what_else_is_to_know() -> None:
    assert describe_proxy_outage(OUTAGE) == [
        "2 clients would lose the connection; 1 of 2 affected groups would lose all clients",
        "proxy p3:8080 contains a broker, which stops as well: see nsadmin whatIf --down BROKER",
        "unknown state of p2:8080: no answer",
    ]
