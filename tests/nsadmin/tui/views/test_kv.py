"""The KV config of all name servers."""

from nsadmin.tui.model import Model
from nsadmin.tui.polls import NameServerPolled
from nsadmin.tui.views.divergence import Sides
from nsadmin.tui.views.kv import Kv
from tests.support.screens import NOON, server

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"


def test_a_row_for_each_key_that_any_of_them_has() -> None:
    model = Model()
    model.apply(server(ONE, kv={"NS": {"a": "1", "b": "2"}}))
    model.apply(server(TWO, kv={"NS": {"a": "1"}}))
    view = Kv()
    equal, other = view.items(model)
    assert [column.cell(equal).text for column in view.columns] == ["NS", "a", "1", "equal"]
    assert [column.cell(other).text for column in view.columns] == ["NS", "b", "2", "≠ differ"]
    assert (view.enter(equal), view.enter(other)) == (None, Sides("KV config", "NS b"))
    assert (view.key(other), view.about(other)[5:8]) == ("NS b", ("NS", "b", "2"))
    assert "".join(cell.text for cell in view.headline(model)) == "namespaces NS"


def test_only_those_that_answer_are_equal_or_differ() -> None:
    model = Model()
    model.apply(server(ONE, kv={"NS": {"a": "1"}}))
    model.apply(server(TWO, kv={"NS": {"a": "2"}}))
    view = Kv()
    model.apply(NameServerPolled(NOON, TWO, error="closed"))
    [item] = view.items(model)
    assert ([column.cell(item).text for column in view.columns], view.silence(model)) == (
        ["NS", "a", "1", "–"], None
    )  # fmt: skip
    model.apply(NameServerPolled(NOON, ONE, error="closed"))
    [item] = view.items(model)
    assert [column.cell(item).text for column in view.columns] == ["NS", "a", "1", "–"]
    assert view.nothing(model) == "unknown: no name server answers"
