"""The table of mqadmin's commands; that it has those of the released tools is seen in tests/interop."""

from collections import Counter

from nsadmin import registry
from nsadmin.commands.mqadmin_names import KNOWN

NAMES = [item.name for item in KNOWN]


def test_each_command_is_there_once_in_the_order_of_the_alphabet() -> None:
    assert sorted(NAMES, key=str.lower) == NAMES
    assert [name for name, count in Counter(map(str.lower, NAMES)).items() if count > 1] == []
    assert Counter("to" in item.since for item in KNOWN) == {False: 96, True: 5}


def test_each_has_a_note_and_no_substitute_that_is_not_here() -> None:
    assert all(item.note and item.since[0] in "45" for item in KNOWN)
    for item in KNOWN:
        assert item.instead is None or registry.find(item.instead), item.name
        # What is here under its own name needs no other.
        assert item.instead is None or registry.find(item.name) is None, item.name
