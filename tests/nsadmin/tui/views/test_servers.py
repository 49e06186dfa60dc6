"""Name servers in numbers."""

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import AnyPoll, NameServerPolled
from nsadmin.tui.views.servers import SERVER_COLUMNS, NameServerSettingsView, ServersView, SettingRow
from nsadmin.tui.views.table import Cell
from tests.support.screens import NOON, join_cells, make_server_poll

ONE, TWO, THREE = (f"10.0.0.{number}:9876" for number in (1, 2, 3))


def model_of(*polls: AnyPoll) -> ClusterModel:
    model = ClusterModel([ONE, TWO])
    for poll in polls:
        model.apply_poll(poll)
    return model


def test_numbers_of_each_and_how_much_it_differs() -> None:
    model = model_of(
        make_server_poll(ONE, kv={"NS": {"k": "v"}}), make_server_poll(TWO, topics=("orders",), kv={})
    )
    model.apply_poll(NameServerPolled(NOON + 1000, THREE, error="closed"))
    model.now_ms = NOON + 11_000
    first, _, third = ServersView().build_rows(model)
    assert {column.key: column.render_cell(first).text.strip() for column in SERVER_COLUMNS} == {
        "addr": ONE, "state": "● up", "latency": "1.0 ms", "latencies": "▂", "brokers": "1", "topics": "2",
        "keys": "1", "differs": "2", "error": "",
    }  # fmt: skip
    assert {column.key: column.render_cell(third).text.strip() for column in SERVER_COLUMNS} == {
        "addr": THREE, "state": "✕ down 10 s", "latency": "–", "latencies": "", "brokers": "–", "topics": "–",
        "keys": "–", "differs": "–", "error": "closed",
    }  # fmt: skip
    line = join_cells(ServersView().render_headline(model))
    assert line == "3 name servers  1 silent  they diverge: topics, KV config"


def test_the_line_above_says_when_nobody_knows() -> None:
    assert "agreement unknown" in ServersView().render_headline(model_of(make_server_poll(ONE)))[-1].text
    found = ServersView().render_headline(model_of(make_server_poll(ONE), make_server_poll(TWO)))[-1].tone
    assert found == "good"


def test_one_name_server_is_compared_with_none() -> None:
    model = ClusterModel([ONE])
    model.apply_poll(make_server_poll(ONE))
    line = join_cells(ServersView().render_headline(model))
    assert line == "1 name server  only one name server: there is nothing to compare"


def test_a_second_name_of_a_name_server_says_so() -> None:
    model = model_of(
        make_server_poll(ONE, peer="10.0.0.1:9876"), make_server_poll(TWO, peer="10.0.0.1:9876", topics=())
    )
    first, second = (
        {column.key: column.render_cell(row) for column in SERVER_COLUMNS}
        for row in ServersView().build_rows(model)
    )
    assert (first["error"].text, first["differs"].text) == ("", "–")
    assert (second["error"], second["differs"].text) == (Cell(f"same name server as {ONE}", "warn"), "–")


def test_one_alone_differs_from_nobody_that_is_known_and_a_silent_one_has_no_present_time() -> None:
    model = model_of(make_server_poll(ONE), make_server_poll(TWO))
    model.apply_poll(NameServerPolled(NOON + 1000, TWO, error="closed"))
    first, second = (
        {column.key: column.render_cell(row) for column in SERVER_COLUMNS}
        for row in ServersView().build_rows(model)
    )
    assert (first["differs"], first["latency"].tone) == (Cell("–", "dim"), "")
    assert (second["differs"], second["latency"]) == (Cell("–", "dim"), Cell("–", "dim"))


def test_its_settings_and_who_has_them_otherwise() -> None:
    model = model_of(
        make_server_poll(ONE, settings={"a": "1", "b": "2"}),
        make_server_poll(TWO, settings={"a": "1", "b": "3"}),
    )
    view = ServersView().open_row(ServersView().build_rows(model)[0])
    assert isinstance(view, NameServerSettingsView)
    assert view.build_rows(model) == [("a", "1", ""), ("b", "2", TWO)]
    assert (view.row_key(SettingRow("a", "1", "")), view.title) == ("a", ONE)
    assert view.subject_of_row(SettingRow("a", "1", "")) == RowSubject(key="a", value="1", name_server=ONE)
    assert NameServerSettingsView("nobody").build_rows(model) == []
    row = ServersView().build_rows(model)[0]
    assert ServersView().row_key(row) == ONE
    assert ServersView().filter_text(row) == ONE
    assert ServersView().subject_of_row(row).name_server == ONE
