"""The comparer itself: planted faults are found, and what Java leaves open is not called a difference."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.interop import wire
from tests.interop.differential import loose_json
from tests.interop.differential.generator import Generator
from tests.interop.differential.operations import Kind, Op, Outcome
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


@pytest.mark.parametrize("read", [loose_json.parse])
def test_quoted_and_unquoted_keys_are_different_keys(read: Callable[[bytes], Any]) -> None:
    assert read(b'{0:"a"}') != read(b'{"0":"a"}')


@pytest.mark.parametrize("text", [b"", b"{", b'{"a" :1}', b"[1,]", b"{a:1}", b'"a', b"nul", b'{"a":1}x'])
def test_what_java_would_never_write_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        loose_json.parse(text)
