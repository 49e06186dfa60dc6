"""The comparer itself: planted faults are found, and what Java leaves open is not called a difference."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.interop import test_edges, wire
from tests.interop.differential import loose_json
from tests.interop.differential.generator import Generator
from tests.interop.differential.ledger import Ledger
from tests.interop.differential.operations import Kind, Op, Outcome
from tests.interop.differential.runner import Difference, Run
from tests.interop.differential.subject import Subject
from tests.interop.differential.tolerated import ELSEWHERE, TABLE
from tests.interop.differential.tolerated_oddities import ODDITIES
from tests.interop.differential.views import differences, view
from tests.interop.wire import Answer

ROUTE = (
    b'{"brokerDatas":[{"brokerAddrs":{0:"a:1",1:"a:2"},"brokerName":"p-b","cluster":"p-c"}],"queueDatas":[]}'
)
FOUND = Answer(wire.JSON, 0, 1, 7, "JAVA", 513, None, {}, ROUTE, ("code", "extFields"))
MISSING = Answer(wire.JSON, 17, 1, 7, "JAVA", 513, "No topic route info", None)


def compare(java: Answer, ours: Answer, code: int = 105) -> list[str]:
    op = Op(Kind.REQUEST, 0, code)
    return differences(view(op, Outcome((java,)), "p-"), view(op, Outcome((ours,)), "p-"))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"code": 1}, ["code"]),
        ({"flag": 3}, ["flag"]),
        ({"opaque": 8}, ["opaque"]),
        ({"version": 479}, ["version"]),
        ({"remark": ""}, ["remark"]),
        ({"ext": None}, ["ext"]),
        ({"ext": {"value": "v"}}, ["ext"]),
        ({"members": ("extFields", "code")}, ["members"]),
        ({"body": b""}, ["body", "body characters"]),
        ({"body": ROUTE.replace(b'1:"a:2"', b'1:"a:3"')}, ["body", "body characters"]),
        ({"body": ROUTE.replace(b"{0:", b'{"0":')}, ["body", "body characters"]),
        (
            {"body": ROUTE.replace(b'"brokerName"', b' "brokerName"')},
            ["body", "body fault", "body characters"],
        ),
        ({"body": ROUTE.replace(b"a:1", b"a\\u003a1")}, ["body characters"]),
        ({"body": ROUTE + b"{}"}, ["body", "body fault", "body characters"]),
    ],
)
def test_a_planted_fault_is_found(changes: dict[str, Any], found: list[str]) -> None:
    assert sorted(compare(FOUND, replace(FOUND, **changes))) == sorted(found)


def test_a_changed_remark_is_found() -> None:
    assert compare(MISSING, replace(MISSING, remark="No topic route info.")) == ["remark"]


def test_the_order_of_a_map_is_left_open() -> None:
    swapped = ROUTE.replace(b'0:"a:1",1:"a:2"', b'1:"a:2",0:"a:1"')
    assert compare(FOUND, replace(FOUND, body=swapped)) == []


def test_the_order_of_a_records_members_is_not() -> None:
    swapped = ROUTE.replace(b'"brokerName":"p-b","cluster":"p-c"', b'"cluster":"p-c","brokerName":"p-b"')
    assert compare(FOUND, replace(FOUND, body=swapped)) == ["body"]


def test_names_of_other_sequences_are_not_compared() -> None:
    mine, both = b'{"topicList":["p-t"]}', b'{"topicList":["other","p-t"]}'
    assert compare(replace(FOUND, body=mine), replace(FOUND, body=both), code=206) == []
    assert compare(replace(FOUND, body=mine), replace(FOUND, body=both), code=224) == [
        "body",
        "body characters",
    ]


def test_a_closed_connection_differs_from_an_answer() -> None:
    op = Op(Kind.RAW, 0)
    assert "closed" in differences(view(op, Outcome(closed=True), ""), view(op, Outcome((MISSING,)), ""))


def test_the_same_seed_gives_the_same_operations() -> None:
    first, second, other = (list(Generator(seed).operations(200)) for seed in ("1:1", "1:1", "1:2"))
    assert first == second != other


def test_quoted_and_unquoted_keys_are_different_keys() -> None:
    assert loose_json.parse(b'{0:"a"}') != loose_json.parse(b'{"0":"a"}')


class Canned(Subject):
    """Answers everything alike, but for what a fault does to the answers to one request code."""

    def __init__(
        self, name: str, code: int = 0, fault: Callable[[Answer], Answer] = lambda answer: answer
    ) -> None:
        self.name, self._code, self._fault = name, code, fault

    def run(self, op: Op) -> Outcome:
        answer = self._fault(MISSING) if op.code == self._code else MISSING
        return Outcome((answer,))

    def close(self) -> None:
        """Nothing is open."""

    def call(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        return MISSING


@pytest.mark.parametrize("code", [101, 105, 216, 322])
def test_a_run_stops_at_a_faulty_server_and_says_how_to_replay_it(code: int) -> None:
    faulty = Canned("faulty", code, lambda answer: replace(answer, remark="No topic route"))
    with pytest.raises(Difference, match=r"NSADMIN_DIFF_SEED=1:\d+") as raised:
        Run(Canned("right"), faulty, TABLE).sequences("1", 2000)
    assert "right: 'No topic route info'\n  faulty: 'No topic route'" in str(raised.value)


def test_a_run_of_two_equal_servers_ends_well_and_counts_what_it_asked() -> None:
    report = Run(Canned("one"), Canned("other"), TABLE).sequences("1", 500)
    assert report.operations >= 500
    assert report.asked["103"] > 20
    assert "asked:" in str(report)


def test_a_seed_with_a_number_replays_that_sequence_alone() -> None:
    assert Run(Canned("one"), Canned("other"), TABLE).sequences("1:7", 5000).sequences == 1


def test_the_generator_reaches_what_only_a_certain_order_or_an_odd_body_shows() -> None:
    ops = [op for number in range(100) for op in Generator(f"reach:{number}").operations(40)]
    marks = {mark for op in ops for mark in op.marks}
    assert {entry.name for entry in ODDITIES} <= marks | {
        "frame before a bad one",
        "settings that are no ASCII",
    }
    assert {"good and bad", "invalid UTF-8"} <= marks
    registrations = [op for op in ops if op.code == 103 and not op.marks - {"deletes topics"}]
    assert any(b'"topicConfigTable":null' in op.body for op in registrations)
    assert any(op.version < 37 and b'"currIdMap"' in op.body for op in registrations)
    packed = [inflated(op.body) for op in registrations if (op.ext or {}).get("compressed") == "true"]
    for filters in (b"null", b"", b"[]", b"{}"):
        assert any(text.endswith(len(filters).to_bytes(4, "big") + filters + bytes(4)) for text in packed)


def test_addresses_are_shared_over_clusters_while_connections_close() -> None:
    shared_count = 0
    for number in range(100):
        holders: dict[str, set[tuple[str, str]]] = {}
        for op in Generator(f"shared:{number}").operations(40):
            ext = op.ext or {}
            if op.code == 103 and "clusterName" in ext:
                place = str(ext["clusterName"]), str(ext["brokerName"])
                holders.setdefault(str(ext["brokerAddr"]), set()).add(place)
            if op.kind in (Kind.CLOSE, Kind.RESET):
                clusters = [{cluster for cluster, _ in places} for places in holders.values()]
                names = [{name for _, name in places} for places in holders.values()]
                shared_count += any(
                    len(one) > 1 and len(two) > 1 for one, two in zip(clusters, names, strict=True)
                )
    assert shared_count > 5


def test_the_ledger_knows_a_name_that_stays_when_its_address_unregisters_under_another() -> None:
    ledger, done = Ledger(), Outcome((FOUND,))
    for name in ("a", "b"):
        ledger.record(
            Op(Kind.REQUEST, 1, 103, {"clusterName": "c", "brokerAddr": "x", "brokerName": name}), done
        )
    ledger.record(Op(Kind.REQUEST, 1, 104, {"clusterName": "c", "brokerAddr": "x", "brokerName": "b"}), done)
    assert ledger.orphans == {("c", "x")}
    ledger.record(Op(Kind.CLOSE, 1), Outcome())
    assert ledger.orphan_at_close
    ledger.record(Op(Kind.REQUEST, 1, 106), done)
    assert not ledger.orphan_at_close


def inflated(body: bytes) -> bytes:
    """What a compressed body contains; nothing for another one."""
    try:
        return zlib.decompress(body)
    except zlib.error:
        return b""


@pytest.mark.parametrize("text", [b"", b"{", b'{"a" :1}', b"[1,]", b"{a:1}", b'"a', b"nul", b'{"a":1}x'])
def test_what_java_would_never_write_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loose_json.parse(text)


def test_every_difference_shown_elsewhere_has_its_test() -> None:
    assert [name for name in ELSEWHERE if not hasattr(test_edges, name)] == []
    assert len({entry.name for entry in TABLE}) == len(TABLE)
