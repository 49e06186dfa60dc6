"""How far each drain has come."""

import msgspec

from nsadmin.tui.model import Model
from nsadmin.tui.polls import Drain, DrainsPolled
from nsadmin.tui.views import states
from nsadmin.tui.views.broker_rows import rows
from nsadmin.tui.views.drains import Drains
from nsadmin.tui.views.events import Object
from tests.support.screens import NOON, broker, server, silent

DRAIN = Drain(
    "cluster-a",
    "broker-a",
    "wait",
    NOON - 90_000,
    "me",
    None,
    False,
    1,
    None,
    "wait: puts 12 a minute",
    12,
    NOON - 9_000,
)
A = "10.0.1.1:10911"


def model_of(*drains: Drain) -> Model:
    model = Model()
    for poll in (server(), broker(A), DrainsPolled(NOON, drains, ["/x: no JSON"])):
        model.apply(poll)
    return model


def test_a_drain_with_its_phase_and_who_is_at_it() -> None:
    view, model = Drains(), model_of(DRAIN)
    [row] = view.items(model)
    assert {column.key: column.cell(row).text for column in view.columns} == {
        "broker": "broker-a", "cluster": "cluster-a", "steps": "■■■□□", "phase": "wait",
        "puts": "12 9 s ago", "safe": "–",
        "since": "2 min", "reopened": "1", "by": "me", "at": "nobody", "last": "wait: puts 12 a minute",
    }  # fmt: skip
    assert view.headline(model)[-1].text == "  /x: no JSON"
    assert (view.key(row), view.enter(row), view.about(row).broker_name) == (
        "cluster-a broker-a", Object("broker-a"), "broker-a"
    )  # fmt: skip
    assert Drains().items(Model()) == []


def test_a_safe_one_and_one_that_is_being_undone() -> None:
    view = Drains()
    safe = msgspec.structs.replace(DRAIN, phase="safe", safe_since=NOON - 30_000, pid=7, puts=0)
    undone = msgspec.structs.replace(DRAIN, phase="undrain")
    first, second = view.items(model_of(safe, undone))
    shown = {column.key: column.cell(first).text for column in view.columns}
    assert (shown["steps"], shown["safe"], shown["at"]) == ("■■■■■", "30 s", "pid 7")
    [puts] = [column for column in view.columns if column.key == "puts"]
    assert puts.cell(first) == ("0", "good")
    assert puts.cell(first._replace(drain=msgspec.structs.replace(safe, puts=3))) == ("3", "warn")
    assert [column.cell(second).text for column in view.columns][2:4] == ["", "being undone"]


def test_a_broker_says_that_it_is_drained_unless_worse_is_known() -> None:
    model = model_of(DRAIN)
    assert rows(model)[0].state == states.DRAINING
    model.apply(DrainsPolled(NOON, [msgspec.structs.replace(DRAIN, phase="safe")]))
    assert rows(model)[0].state == states.DRAINED
    model.apply(silent(A))
    assert rows(model)[0].state == states.FROZEN
    model.apply(broker(A))
    model.apply(DrainsPolled(NOON, [msgspec.structs.replace(DRAIN, phase="undrain")]))
    assert rows(model)[0].state == states.UP
