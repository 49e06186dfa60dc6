"""Consumer groups: how far behind, and whether that grows."""

from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import AnyPoll, GroupPolled, GroupsPolled, Lag, Member
from nsadmin.tui.questions import Question
from nsadmin.tui.views.group import GroupQueues
from nsadmin.tui.views.groups import COLUMNS, Groups
from tests.support.screens import NOON


def poll(lag: int, at: int, members: int = 1) -> GroupPolled:
    clients = [Member(f"c{number}", "h:1", "JAVA", "V5_5_0") for number in range(members)]
    lags = [
        Lag("orders", "broker-a", 0, 1000 + lag, 1000, 0, NOON - 60_000),
        Lag("orders", "broker-a", 1, 5, None, None, None),
    ]
    return GroupPolled(at, "g", 4.0, lags, clients, "CONSUME_PASSIVELY")


def texts(*polls: AnyPoll) -> dict[str, str]:
    model = Model()
    for one in (GroupsPolled(NOON, ["g"]), *polls):
        model.apply(one)
    [row] = Groups().items(model)
    return {column.key: column.cell(row).text for column in COLUMNS}


def test_a_group_that_was_not_asked_yet_is_no_zero() -> None:
    assert set(texts().values()) == {"g", "–", ""}


def test_lag_clients_and_the_age_of_what_waits() -> None:
    assert texts(poll(20_000, NOON)) == {
        "group": "g", "members": "1", "lag": "20.0k", "trend": "           ▇", "growth": "", "delay": "1 min",
        "tps": "4.0", "topics": "1", "type": "CONSUME_PASSIVELY",
    }  # fmt: skip


def test_whether_it_falls_behind() -> None:
    assert texts(poll(100, NOON), poll(200, NOON + 10_000))["growth"] == "↑ 10/s"
    assert texts(poll(200, NOON), poll(100, NOON + 10_000))["growth"] == "↓ 10/s"
    assert texts(poll(100, NOON), poll(100, NOON + 10_000))["growth"] == "→"


def test_messages_that_nobody_reads_are_bad() -> None:
    model = Model()
    model.apply(GroupsPolled(NOON, ["g"]))
    model.apply(poll(5, NOON, members=0))
    [row] = Groups().items(model)
    assert COLUMNS[1].cell(row) == ("0", "bad")


def test_the_view() -> None:
    model = Model()
    assert Groups().items(model) == []
    model.apply(GroupsPolled(NOON, ["g"], {"10.0.1.1:10911": "closed"}))
    model.apply(poll(7, NOON))
    view = Groups()
    [row] = view.items(model)
    line = "".join(cell.text for cell in view.headline(model))
    assert line == "1 groups  behind by 7  1 brokers did not tell theirs"
    assert (view.key(row), view.text(row), view.about(row).group, view.enter(row)) == (
        "g",
        "g",
        "g",
        GroupQueues("g"),
    )
    assert view.questions(model, [], None) == [Question("groups")]


def test_groups_of_which_nobody_tells_are_unknown_or_those_of_before() -> None:
    view, model = Groups(), Model()
    assert (view.headline(model)[0].text, view.nothing(model)) == ("– groups", "groups are being asked for")
    assert view.nothing(Model(is_played=True)) == "groups are not recorded"
    failed = GroupsPolled(NOON + 1000, (), {"": "no name server answers"})
    model.apply(failed)
    assert (view.headline(model)[0].text, view.nothing(model)) == (
        "– groups", "unknown: no name server answers"
    )  # fmt: skip
    for one in (GroupsPolled(NOON, ["g"]), poll(7, NOON), failed):
        model.apply(one)
    assert "".join(cell.text for cell in view.headline(model)) == "1 groups  behind by 7"
    assert view.silence(model) == Silence("no name server answers", NOON + 1000)
    model.apply(GroupsPolled(NOON, []))
    assert view.nothing(model) == "no broker knows a group"


def test_a_lag_that_is_not_known_is_no_zero() -> None:
    model = Model()
    model.apply(GroupsPolled(NOON, ["g"]))
    assert "".join(cell.text for cell in Groups().headline(model)) == "1 groups  behind by –"
