"""What differs between brokers, said as shortly as it can be."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsadmin.operations.plans.fields import TOPIC_SETTINGS
from nsadmin.operations.plans.records import ItemSpec
from nsadmin.operations.plans.settings import ItemSettings

ABC = ("a", "b", "c")
PLAIN = TOPIC_SETTINGS.default_values


def topic(**more: Any) -> dict[str, Any]:
    return {**PLAIN, **more}


def test_what_is_left_out_has_its_default_on_every_broker() -> None:
    assert ItemSpec().settings_on_brokers("topic", ABC) == {"a": PLAIN, "b": PLAIN, "c": PLAIN}
    assert ItemSpec({"perm": 4}).settings_on_brokers("topic", ("a",)) == {"a": topic(perm=4)}


def test_brokers_that_have_it_or_have_it_not() -> None:
    assert list(ItemSpec(only_on=("b", "x")).settings_on_brokers("topic", ABC)) == ["b"]
    assert list(ItemSpec(not_on=("b",)).settings_on_brokers("group", ABC)) == ["a", "c"]
    setting_values = ItemSpec(
        {"perm": 4, "readQueueNums": 2}, per_broker={"b": {"perm": 6}}
    ).settings_on_brokers("topic", ABC)
    assert [(item["perm"], item["readQueueNums"]) for item in setting_values.values()] == [
        (4, 2),
        (6, 2),
        (4, 2),
    ]
    assert ItemSpec(only_on=("a",), per_broker={"b": {}}).named_brokers == {"a", "b"}


@pytest.mark.parametrize(
    ("held", "shortest"),
    [
        ({"a": {}, "b": {}, "c": {}}, ItemSpec()),
        ({"a": {"perm": 4}, "b": {"perm": 4}, "c": {"perm": 4}}, ItemSpec({"perm": 4})),
        ({"b": {}}, ItemSpec(only_on=("b",))),
        ({"a": {}, "c": {}}, ItemSpec(not_on=("b",))),
        ({"a": {"perm": 4}, "b": {}, "c": {}}, ItemSpec(per_broker={"a": {"perm": 4}})),
        ({"a": {"perm": 4}, "b": {}}, ItemSpec({"perm": 4}, None, ("c",), {"b": {"perm": 6}})),
    ],
)
def test_the_shortest_that_says_it(held: dict[str, ItemSettings], shortest: ItemSpec) -> None:
    assert ItemSpec.from_brokers("topic", held, ABC) == shortest


SOME = st.fixed_dictionaries({}, optional={"perm": st.sampled_from([2, 4, 6]), "order": st.booleans()})


@given(st.dictionaries(st.sampled_from(ABC), SOME))
def test_it_says_what_each_broker_has(held: dict[str, ItemSettings]) -> None:
    settings_text = ItemSpec.from_brokers("topic", held, ABC).settings_on_brokers("topic", ABC)
    assert settings_text == {name: topic(**settings) for name, settings in held.items()}
