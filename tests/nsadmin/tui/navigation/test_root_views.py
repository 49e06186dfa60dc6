"""The screens that numbers stand for."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.root_views import ProblemCounter
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.brokers.broker_table import BrokersView
from nsadmin.tui.views.events import EventsView
from tests.support.screens import NOON, make_broker_poll, make_server_poll


def test_each_screen_is_made_by_its_name_and_has_a_title() -> None:
    for name, title in zip(root_views.SCREEN_NAMES, root_views.SCREEN_TITLES, strict=True):
        view = root_views.make_view(name)
        assert (view.name, root_views.ROOT_VIEWS[view.name]) == (name, title)
    assert len(root_views.SCREEN_NAMES) <= 9


def test_what_is_no_such_screen_has_no_title() -> None:
    assert View().name not in root_views.ROOT_VIEWS


A = "10.0.1.1:10911"


def test_the_first_drawing_counts_its_own_view_and_the_next_one_all_for_some_seconds() -> None:
    model, counter = ClusterModel(), ProblemCounter()
    model.apply_poll(make_server_poll())
    model.apply_poll(make_broker_poll(A, commitLogDiskRatio="0.95"))
    assert counter.count_problems(model, EventsView()) == {}
    assert counter.count_problems(model, EventsView())["Brokers"] == 1
    model.apply_poll(make_broker_poll(A, NOON + 1000))
    assert counter.count_problems(model, EventsView())["Brokers"] == 1
    assert counter.count_problems(model, BrokersView())["Brokers"] == 0
    model.apply_poll(make_broker_poll(A, NOON + 2000, commitLogDiskRatio="0.95"))
    assert counter.count_problems(model, EventsView())["Brokers"] == 0
    model.now_ms = NOON + 6000
    assert counter.count_problems(model, EventsView())["Brokers"] == 1


def test_another_model_begins_without_counts() -> None:
    model, counter = ClusterModel(), ProblemCounter()
    model.apply_poll(make_server_poll())
    for _ in range(2):
        counter.count_problems(model, BrokersView())
    assert counter.count_problems(ClusterModel(), EventsView()) == {}


def test_a_detail_view_is_no_screen() -> None:
    model, counter = ClusterModel(), ProblemCounter()
    model.apply_poll(make_server_poll())
    counter.count_problems(model, EventsView())
    assert set(counter.count_problems(model, EventsView())) == {
        "Home", "Brokers", "Topics", "Groups", "Servers", "KV", "Drains",
    }  # fmt: skip
