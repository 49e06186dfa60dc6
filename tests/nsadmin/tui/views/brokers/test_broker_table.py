"""A row for each broker: figures, how old they are, what deserves a look."""

from typing import Any

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import AnyPoll, NameServerPolled, ReplicasPolled, SlaveRecord
from nsadmin.tui.views.base_view import NO_PROBLEM
from nsadmin.tui.views.brokers.broker_table import (
    BROKER_COLUMNS,
    BrokerRow,
    BrokersView,
    draw_broker_facts,
    list_broker_rows,
    rank_broker,
)
from nsadmin.tui.views.table import Cell
from tests.support.screens import (
    NOON,
    join_cells,
    make_broker_poll,
    make_model,
    make_server_poll,
    make_silent_broker,
)

MASTER, SLAVE = "10.0.1.1:10911", "10.0.1.2:10911"
BOTH = make_server_poll(groups={"broker-a": {0: MASTER, 1: SLAVE}})


def model_of(*polls: AnyPoll) -> ClusterModel:
    return make_model(*polls)


def cell(row: BrokerRow, key: str) -> Cell:
    return next(column.render_cell(row) for column in BROKER_COLUMNS if column.key == key)


def test_a_row_has_what_the_broker_and_its_name_servers_tell() -> None:
    master, slave = list_broker_rows(
        model_of(BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE, commitLogMaxOffset="999999999"))
    )
    assert {column.key: column.render_cell(master).text for column in BROKER_COLUMNS} == {
        "cluster": "cluster-a",
        "broker": "broker-a",
        "role": "master",
        "addr": MASTER,
        "state": "● up",
        "listed": "1/1",
        "version": "5.5.0",
        "in": "100",
        "ins": "         ▇",
        "out": "200",
        "outs": "         ▇",
        "inToday": "4.0k",
        "outToday": "–",
        "disk": "██   50%",
        "wait": "0 ms",
        "dispatch": "0 B",
        "replica": "",
        "metadata": "",
        "rtt": "1.0 ms",
        "heartbeat": "–",
        "uptime": "1.0 h",
    }
    assert [cell(slave, key).text for key in ("role", "replica")] == ["slave 1", "0 B"]


def test_levels_give_figures_a_tone_and_old_ones_have_none() -> None:
    figures: dict[str, Any] = {"commitLogDiskRatio": "0.9", "sendThreadPoolQueueHeadWaitTimeMills": "60"}
    [full] = list_broker_rows(model_of(make_server_poll(), make_broker_poll(MASTER, **figures)))
    assert (cell(full, "disk").tone, cell(full, "wait").tone) == ("bad", "warn")
    late = make_silent_broker(MASTER, NOON + 5_000)
    [old] = list_broker_rows(model_of(make_server_poll(), make_broker_poll(MASTER, **figures), late, late))
    assert (cell(old, "disk").tone, cell(old, "disk").text) == ("dim", "███▌ 90%")
    assert cell(old, "state") == Cell("◐ frozen 0 s", "bad")


def test_what_was_never_told_is_no_zero() -> None:
    [row] = list_broker_rows(model_of(make_server_poll()))
    found = {cell(row, key).text for key in ("in", "out", "disk", "wait", "version", "inToday", "uptime")}
    assert found == {"–"}


def test_a_slave_has_the_result_of_its_comparison_and_none_before_it() -> None:
    polls: list[AnyPoll] = [BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE)]
    _, young = list_broker_rows(model_of(*polls))
    drifted = ReplicasPolled(NOON, [SlaveRecord("broker-a", 1, "drift")])
    master, slave = list_broker_rows(model_of(*polls, drifted))
    assert [cell(row, "metadata") for row in (young, slave)] == [Cell("–", "dim"), Cell("drift", "warn")]
    assert cell(master, "metadata").text == ""


def test_how_many_name_servers_list_it_and_say_that_it_is_wiped() -> None:
    one, other = make_server_poll("h:1", perms={"broker-a": 4}), make_server_poll("h:2")
    [row] = list_broker_rows(model_of(one, other, make_broker_poll(MASTER)))
    assert (cell(row, "listed"), cell(row, "state")) == (Cell("2/2"), Cell("⊘ wiped? 1/2", "warn"))
    [row] = list_broker_rows(
        model_of(one, make_server_poll("h:2", groups={}, perms={}), make_broker_poll(MASTER))
    )
    assert (cell(row, "listed"), cell(row, "state")) == (Cell("1/2", "warn"), Cell("⊘ wiped", "warn"))


def test_what_its_rows_are_about() -> None:
    model, view = model_of(BOTH), BrokersView()
    assert (view.title, len(view.build_rows(model))) == ("Brokers", 2)
    row = view.build_rows(model)[0]
    assert view.subject_of_row(row)[:3] == ("broker-a", MASTER, "cluster-a")
    assert view.row_key(row) == f"broker-a 0 {MASTER}"
    assert "master" in view.filter_text(row)


def test_the_line_above_counts_states_and_messages() -> None:
    model = model_of(BOTH, make_broker_poll(MASTER), make_silent_broker(SLAVE), make_silent_broker(SLAVE))
    line = join_cells(BrokersView().render_headline(model))
    assert line == "2 brokers  ◐ 1 frozen  ● 1 up  in 100/s  out 200/s"


def test_a_process_with_two_names_counts_once() -> None:
    groups = {"broker-a": {0: MASTER, 1: SLAVE}, "broker-b": {0: MASTER}}
    model = model_of(make_server_poll(groups=groups), make_broker_poll(MASTER), make_broker_poll(SLAVE))
    line = join_cells(BrokersView().render_headline(model))
    assert line == "2 brokers  ● 2 up  3 names  in 100/s  out 400/s"
    assert model.put_rate_by_cluster() == {"cluster-a": 100.0}


def test_every_column_can_be_sorted_by() -> None:
    some = list_broker_rows(model_of(BOTH, make_broker_poll(MASTER), make_silent_broker(SLAVE)))
    for column in BROKER_COLUMNS:
        known = [column.read(row) for row in some if column.read(row) is not None]
        assert sorted(known) is not None, column.key


def test_since_when_no_name_server_has_heard_of_it() -> None:
    poll = make_server_poll(silences={MASTER: (70_000, 120_000)})
    [row] = list_broker_rows(
        model_of(poll, make_server_poll("h:2", silences={MASTER: (5_000, 120_000)}), make_broker_poll(MASTER))
    )
    assert cell(row, "heartbeat") == Cell("1 min", "warn")
    [row] = list_broker_rows(model_of(make_server_poll(silences={}), make_broker_poll(MASTER)))
    assert cell(row, "heartbeat") == Cell("–", "dim")


def test_totals_of_what_nobody_tells_are_no_zero() -> None:
    def line(*polls: AnyPoll) -> str:
        return join_cells(BrokersView().render_headline(model_of(BOTH, *polls)))

    assert line() == "2 brokers  · 2 listed  in –/s  out –/s"
    broker_polls = [make_broker_poll(MASTER), make_broker_poll(SLAVE)]
    found = line(*broker_polls, *2 * [make_silent_broker(MASTER), make_silent_broker(SLAVE)])
    assert found == "2 brokers  ◐ 2 frozen  in –/s  out –/s"
    assert line(*broker_polls, make_silent_broker(MASTER)) == "2 brokers  ◔ 1 slow  ● 1 up  in –/s  out 200/s"


def test_where_no_name_server_answers_nobody_knows_who_lists_a_broker() -> None:
    dead = NameServerPolled(NOON + 1000, "10.0.0.1:9876", error="closed")
    [row] = list_broker_rows(
        model_of(make_server_poll(perms={"broker-a": 4}), make_broker_poll(MASTER), dead)
    )
    assert (cell(row, "listed"), cell(row, "state")) == (Cell("–", "dim"), Cell("⊘ wiped", "warn"))
    nobody = model_of(dead)
    assert (BrokersView().render_headline(nobody)[0].text, BrokersView().empty_message(nobody)) == (
        "– brokers", "unknown: no name server answers"
    )  # fmt: skip
    assert BrokersView().empty_message(ClusterModel()) == "no broker is registered"


A = "10.0.1.1:10911"


def test_the_graph_is_drawn_only_if_there_is_room() -> None:
    model = make_model(make_server_poll(), make_broker_poll(A), make_broker_poll(A, NOON + 5000))
    [row] = list_broker_rows(model)
    high = draw_broker_facts(BROKER_COLUMNS, row, 54, 45)
    assert any("messages per second" in cell.text for line in high for cell in line)
    assert len(high) <= 45
    low = draw_broker_facts(BROKER_COLUMNS, row, 54, 20)
    assert len(low) == 20
    assert not any("messages per second" in cell.text for line in low for cell in line)


def test_rows_are_in_the_order_of_cluster_name_and_id() -> None:
    model = model_of(make_server_poll(groups={"broker-b": {0: "h:3"}, "broker-a": {1: SLAVE, 0: MASTER}}))
    row_fields = [(*row.broker.key, row.server_count, row.now_ms) for row in list_broker_rows(model)]
    assert [fields[:3] for fields in row_fields] == [
        ("broker-a", 0, MASTER), ("broker-a", 1, SLAVE), ("broker-b", 0, "h:3")
    ]  # fmt: skip
    assert {fields[3:] for fields in row_fields} == {(1, model.now_ms)}


def test_the_last_word_of_a_silent_name_server_is_not_counted() -> None:
    other = make_server_poll("10.0.0.2:9876", groups={"broker-a": {0: MASTER}})
    model = model_of(make_server_poll(groups={"broker-a": {0: MASTER}}), other)
    model.apply_poll(NameServerPolled(NOON + 1000, "10.0.0.2:9876", error="closed"))
    model.apply_poll(make_server_poll(at=NOON + 2000, groups={}))
    [row] = list_broker_rows(model)
    assert (row.listing_count, row.server_count, row.broker.gone_since_ms) == (0, 1, None)
    assert cell(row, "listed") == Cell("0/2?", "bad")


def test_what_a_slave_lacks_is_more_than_two_seconds_of_its_master() -> None:
    _, slave = list_broker_rows(
        model_of(BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE, commitLogMaxOffset="900000000"))
    )
    assert cell(slave, "replica") == Cell("95.4 MiB", "warn")


def test_nobody_knows_what_a_slave_lacks_while_one_of_them_is_silent() -> None:
    for polls in (
        (make_silent_broker(MASTER), make_broker_poll(SLAVE)),
        (make_broker_poll(MASTER), make_silent_broker(SLAVE)),
        (make_broker_poll(MASTER),),
    ):
        _, slave = list_broker_rows(model_of(BOTH, *polls))
        assert slave.missing_bytes is None


def test_a_broker_that_is_frozen_or_gone_has_no_present_figures() -> None:
    live_columns = ("in", "out", "wait", "dispatch", "rtt", "uptime", "metadata")
    answers = (BOTH, make_broker_poll(MASTER), make_broker_poll(SLAVE))
    comparison = ReplicasPolled(NOON, [SlaveRecord("broker-a", 1, "equal")])
    for silence in (
        [make_silent_broker(addr, NOON + at) for at in (1000, 2000) for addr in (MASTER, SLAVE)],
        [make_server_poll(at=NOON + 420_000, groups={})],
    ):
        model = model_of(*answers, comparison, *silence)
        for row in list_broker_rows(model):
            found = {cell(row, key).text for key in live_columns}
            assert found == {"–"} | ({""} if row.broker.key.id == 0 else set())
        assert "in –/s" in "".join(part.text for part in BrokersView().render_headline(model))


def test_the_bars_of_a_gone_broker_end() -> None:
    model = model_of(BOTH, make_broker_poll(MASTER), make_server_poll(at=NOON + 1, groups={}))
    assert [cell(row, "ins").text for row in list_broker_rows(model)] == ["", ""]


def test_a_silent_name_server_says_nothing_about_heartbeats() -> None:
    model = model_of(make_server_poll(silences={MASTER: (5_000, 120_000)}))
    [row] = list_broker_rows(model)
    assert cell(row, "heartbeat").text == "5 s"
    model.apply_poll(NameServerPolled(NOON + 1000, "10.0.0.1:9876", error="closed"))
    assert cell(row, "heartbeat").text == "–"


A, ONE, TWO = "10.0.1.1:10911", "10.0.0.1:9876", "10.0.0.2:9876"


def rank(*polls: AnyPoll) -> int:
    model = ClusterModel([ONE, TWO])
    for poll in (make_server_poll(ONE), *polls):
        model.apply_poll(poll)
    return rank_broker(list_broker_rows(model)[0])


@pytest.mark.parametrize(
    ("polls", "found"),
    [
        ([make_broker_poll(A)], NO_PROBLEM),
        ([make_broker_poll(A, commitLogDiskRatio="0.95")], 0),
        ([make_broker_poll(A, sendThreadPoolQueueHeadWaitTimeMills="90000")], 0),
        ([make_broker_poll(A), make_silent_broker(A), make_silent_broker(A, NOON + 1000)], 0),
        ([make_broker_poll(A), make_silent_broker(A)], 1),
        ([make_broker_poll(A), make_server_poll(TWO, groups={})], 1),
        ([make_server_poll(ONE, silences={A: (119_000, 120_000)}), make_broker_poll(A)], 0),
    ],
)
def test_the_rank_of_a_broker(polls: list[AnyPoll], found: int) -> None:
    assert rank(*polls) == found


def test_a_late_answer_does_not_move_the_row() -> None:
    late = make_broker_poll(A)
    late = type(late)(late.at, late.addr, 900.0, late.table)
    assert rank(late) == NO_PROBLEM


@pytest.mark.parametrize(
    ("state", "found"), [("equal", NO_PROBLEM), ("lag", NO_PROBLEM), ("unknown", NO_PROBLEM), ("drift", 1)]
)
def test_a_slave_with_drift_is_a_problem_and_its_master_is_none(state: str, found: int) -> None:
    model = ClusterModel([ONE])
    polls: list[AnyPoll] = [
        make_server_poll(ONE, groups={"broker-a": {0: A, 1: "10.0.1.2:10911"}}),
        make_broker_poll(A), make_broker_poll("10.0.1.2:10911"),
        ReplicasPolled(NOON, [SlaveRecord("broker-a", 1, state)]),
    ]  # fmt: skip
    for poll in polls:
        model.apply_poll(poll)
    assert [rank_broker(row) for row in list_broker_rows(model)] == [NO_PROBLEM, found]
