"""The KV config of all name servers."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import NameServerPolled
from nsadmin.tui.views.kv import KvView
from nsadmin.tui.views.servers import DifferenceSidesView
from tests.support.screens import NOON, join_cells, make_model, make_server_poll

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"


def test_a_row_for_each_key_that_any_of_them_has() -> None:
    model = make_model(
        make_server_poll(ONE, kv={"NS": {"a": "1", "b": "2"}}), make_server_poll(TWO, kv={"NS": {"a": "1"}})
    )
    view = KvView()
    equal, other = view.build_rows(model)
    assert [column.render_cell(equal).text for column in view.columns] == ["NS", "a", "1", "equal"]
    assert [column.render_cell(other).text for column in view.columns] == ["NS", "b", "2", "≠ differ"]
    target = view.open_row(other)
    assert view.open_row(equal) is None
    assert target is not None
    assert target == DifferenceSidesView("KV config", "NS b")
    assert (view.row_key(other), view.subject_of_row(other)[5:8]) == ("NS b", ("NS", "b", "2"))
    assert join_cells(view.render_headline(model)) == "namespaces NS"


def test_only_those_that_answer_are_equal_or_differ() -> None:
    polls = (make_server_poll(addr, kv={"NS": {"a": value}}) for addr, value in ((ONE, "1"), (TWO, "2")))
    model = make_model(*polls, NameServerPolled(NOON, TWO, error="closed"))
    view = KvView()
    [item] = view.build_rows(model)
    assert ([column.render_cell(item).text for column in view.columns], view.find_silence(model)) == (
        ["NS", "a", "1", "–"], None
    )  # fmt: skip
    model.apply_poll(NameServerPolled(NOON, ONE, error="closed"))
    [item] = view.build_rows(model)
    assert [column.render_cell(item).text for column in view.columns] == ["NS", "a", "1", "–"]
    assert view.empty_message(model) == "unknown: no name server answers"


def test_two_equal_values_are_not_equal_on_three_name_servers_of_which_one_is_silent() -> None:
    model = ClusterModel()
    addrs = [f"10.0.0.{number}:9876" for number in (1, 2, 3)]
    for addr in addrs:
        model.apply_poll(make_server_poll(addr, kv={"NS": {"k": "v"}}))
    [row] = KvView().build_rows(model)
    assert row.agreement_cell.text == "equal"
    model.apply_poll(NameServerPolled(NOON + 1, addrs[2], error="closed"))
    [row] = KvView().build_rows(model)
    assert row.agreement_cell.text == "–"
