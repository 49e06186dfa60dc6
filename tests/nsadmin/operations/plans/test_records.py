"""What differs between brokers, said as shortly as it can be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsadmin.operations.plans.fields import TOPIC_SETTINGS
from nsadmin.operations.plans.records import Spec
from nsadmin.operations.plans.settings import Settings

ABC = ("a", "b", "c")
PLAIN = TOPIC_SETTINGS.defaults


def topic(**more: Any) -> dict[str, Any]:
    return {**PLAIN, **more}


def test_what_is_left_out_has_its_default_on_every_broker() -> None:
    assert Spec().on("topic", ABC) == {"a": PLAIN, "b": PLAIN, "c": PLAIN}
    assert Spec({"perm": 4}).on("topic", ("a",)) == {"a": topic(perm=4)}


def test_brokers_that_have_it_or_have_it_not() -> None:
    assert list(Spec(only_on=("b", "x")).on("topic", ABC)) == ["b"]
    assert list(Spec(not_on=("b",)).on("group", ABC)) == ["a", "c"]
    found = Spec({"perm": 4, "readQueueNums": 2}, per_broker={"b": {"perm": 6}}).on("topic", ABC)
    assert [(item["perm"], item["readQueueNums"]) for item in found.values()] == [(4, 2), (6, 2), (4, 2)]
    assert Spec(only_on=("a",), per_broker={"b": {}}).named == {"a", "b"}


@pytest.mark.parametrize(
    ("held", "shortest"),
    [
        ({"a": {}, "b": {}, "c": {}}, Spec()),
        ({"a": {"perm": 4}, "b": {"perm": 4}, "c": {"perm": 4}}, Spec({"perm": 4})),
        ({"b": {}}, Spec(only_on=("b",))),
        ({"a": {}, "c": {}}, Spec(not_on=("b",))),
        ({"a": {"perm": 4}, "b": {}, "c": {}}, Spec(per_broker={"a": {"perm": 4}})),
        ({"a": {"perm": 4}, "b": {}}, Spec({"perm": 4}, None, ("c",), {"b": {"perm": 6}})),
    ],
)
def test_the_shortest_that_says_it(held: dict[str, Settings], shortest: Spec) -> None:
    assert Spec.of("topic", held, ABC) == shortest


SOME = st.fixed_dictionaries({}, optional={"perm": st.sampled_from([2, 4, 6]), "order": st.booleans()})


@given(st.dictionaries(st.sampled_from(ABC), SOME))
def test_it_says_what_each_broker_has(held: dict[str, Settings]) -> None:
    said = Spec.of("topic", held, ABC).on("topic", ABC)
    assert said == {name: topic(**settings) for name, settings in held.items()}
