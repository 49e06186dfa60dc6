"""The groups that read a topic, with what waits for them there."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.view_links import list_tabs, open_target
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ClientConnection, GroupPolled, QueueLag, TopicPolled
from nsadmin.tui.views.groups.group_detail import GroupQueuesView
from nsadmin.tui.views.topics.topic_readers import TopicReadersView
from tests.support.screens import NOON

LAGS = [
    QueueLag("orders", "broker-a", 0, 20_500, 500, 0, NOON - 60_000),
    QueueLag("payments", "broker-a", 0, 9, 2, 0, NOON - 90_000),
]


def model() -> ClusterModel:
    new_model = ClusterModel()
    new_model.apply_poll(TopicPolled(NOON, "orders", groups=["g", "h"]))
    return new_model


def texts(found: ClusterModel) -> list[list[str]]:
    view = TopicReadersView("orders")
    return [[column.render_cell(row).text for column in view.columns] for row in view.build_rows(found)]


def test_the_lag_of_this_topic_and_of_all_and_what_was_not_read_yet() -> None:
    cluster_model = model()
    cluster_model.apply_poll(GroupPolled(NOON, "g", 4.0, LAGS, [ClientConnection("c", "h:1", "GO", "V5")]))
    assert texts(cluster_model) == [["g", "1", "20.0k", "1 min", "20.0k"], ["h", "–", "–", "–", "–"]]


def test_a_lag_without_clients_is_bad() -> None:
    cluster_model, view = model(), TopicReadersView("orders")
    cluster_model.apply_poll(GroupPolled(NOON, "g", 4.0, LAGS))
    first, second = view.build_rows(cluster_model)
    assert (view.is_problem(first), view.is_problem(second)) == (True, False)


def test_its_readers_lead_to_their_queues() -> None:
    view = TopicReadersView("orders")
    row, _ = view.build_rows(model())
    assert (open_target(view.open_row(row)), view.subject_of_row(row).group) == (GroupQueuesView("g"), "g")
    assert [tab.view_name for tab in list_tabs(view)] == [
        "route",
        "groups",
        "drawn",
        "producers",
        "history",
        "messages",
    ]
    assert view.list_queries(model(), [], None) == [DetailQuery("topic", "orders"), DetailQuery("groups")]
    assert view.build_rows(ClusterModel()) == []
