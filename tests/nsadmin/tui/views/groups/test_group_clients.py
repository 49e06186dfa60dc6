"""The clients of a group, and how they share its queues and its lag."""

from msgspec.structs import replace

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import ClientConnection, GroupPolled, QueueLag
from nsadmin.tui.views.groups.group_clients import ClientShare, GroupClientsView, list_client_rows
from tests.support.screens import NOON

LAGS = [
    QueueLag("orders", "broker-a", queue_id, 1000, 1000 - lag, 0, NOON)
    for queue_id, lag in enumerate((600, 200, 150, 50, 0))
]
CLIENTS = [ClientConnection(name, "h:1", "JAVA", "V5_5_0") for name in ("c2", "c1")]
POLL = GroupPolled(NOON, "g", 4.0, LAGS, CLIENTS, "CONSUME_PASSIVELY", "CLUSTERING")


def test_each_client_has_the_queues_of_the_default_strategy_and_their_lag() -> None:
    shares = {row.client.client_id: row.share for row in list_client_rows(POLL)}
    assert shares == {"c1": ClientShare(3, 950, 0.95), "c2": ClientShare(2, 50, 0.05)}


def test_clients_that_do_not_divide_the_queues_have_no_share() -> None:
    for changed in (
        {"message_model": "BROADCASTING"},
        {"consume_type": "CONSUME_POP"},
        {"unreported": {"b": "?"}},
    ):
        assert {row.share for row in list_client_rows(replace(POLL, **changed))} == {None}


def test_a_group_without_a_lag_has_no_part_of_it() -> None:
    [share, _] = [row.share for row in list_client_rows(replace(POLL, lags=LAGS[4:]))]
    assert share == ClientShare(0, 0, None)


def test_the_view() -> None:
    view, model = GroupClientsView("g"), ClusterModel()
    assert view.build_rows(model) == []
    model.apply_poll(POLL)
    second, first = view.build_rows(model)
    assert [column.render_cell(first).text for column in view.columns] == [
        "c1", "h:1", "3", "950", "████▊  95%", "JAVA", "V5_5_0", "–", "",
    ]  # fmt: skip
    assert (view.row_key(second), view.subject_of_row(second).group) == ("c2 h:1", "g")
    model.apply_poll(replace(POLL, members=(), unreported={"10.0.1.1:10911": "closed"}))
    assert view.empty_message(model) == "unknown: 10.0.1.1:10911 returned no connections (closed)"


def test_clients_behind_proxies_have_a_proxy_and_no_queues_of_their_own() -> None:
    view, model = GroupClientsView("g"), ClusterModel()
    proxied = ClientConnection("c3", "h:2", "JAVA", "5.2.0", "gRPC", "p1:8080, p2:8080")
    model.apply_poll(replace(POLL, members=[*CLIENTS, proxied]))
    row = view.build_rows(model)[-1]
    assert row.share is None
    assert [column.render_cell(row).text for column in view.columns][-2:] == ["gRPC", "p1:8080, p2:8080"]
