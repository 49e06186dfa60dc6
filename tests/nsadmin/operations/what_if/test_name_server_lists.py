"""Who would have which name servers left."""

from nsadmin.operations.what_if.name_server_lists import (
    NameServerListLoss,
    find_list_losses,
    find_unshared_brokers,
)


def test_those_with_none_left_come_first() -> None:
    lists = {"p": ("s:1", "s:2"), "q": ("s:1",), "r": ("s:2",), "o": ("s:1", "s:3")}
    assert find_list_losses(lists, ["s:1"]) == [
        NameServerListLoss("q", ("s:1",), ()),
        NameServerListLoss("o", ("s:1", "s:3"), ("s:3",)),
        NameServerListLoss("p", ("s:1", "s:2"), ("s:2",)),
    ]


def test_processes_that_only_one_name_server_knows() -> None:
    tables = {
        "s:1": {"a": frozenset({0, 1}), "b": frozenset({0}), "c": frozenset({0})},
        "s:2": {"a": frozenset({0}), "c": frozenset({0})},
        "s:3": {"b": frozenset({0})},
    }
    assert find_unshared_brokers(tables, ["s:1"]) == {"a": frozenset({1})}
    assert find_unshared_brokers(tables, ["s:1", "s:3"]) == {"a": frozenset({1}), "b": frozenset({0})}
    assert find_unshared_brokers(tables, []) == {}
