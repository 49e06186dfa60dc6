"""The index of brokers by channel and by address."""

from namesrv_core.state.broker_tables import BrokerIndex

KEY, ELSEWHERE = ("c", "x"), ("d", "x")


def is_empty(index: BrokerIndex) -> bool:
    return not any(getattr(index, name) for name in BrokerIndex.__slots__)


def test_a_channel_knows_the_brokers_that_registered_over_it_until_it_closes() -> None:
    index = BrokerIndex()
    index.add_channel(7, KEY)
    index.add_channel(7, ELSEWHERE)
    index.add_channel(8, KEY)
    assert list(index.keys_of_channel(7)) == [KEY, ELSEWHERE]
    assert list(index.remove_channel(7)) == [KEY, ELSEWHERE]
    assert not index.is_channel_known(7)
    assert list(index.keys_of_channel(7)) == list(index.remove_channel(7)) == []
    index.remove_from_channels(KEY, (7, 8))
    assert is_empty(index)


def test_a_place_is_held_until_the_last_cluster_releases_it() -> None:
    index = BrokerIndex()
    index.hold_place("a", KEY)
    index.hold_place("a", ELSEWHERE)
    assert index.release_place("a", KEY)
    assert (list(index.names_at(KEY)), list(index.names_at(ELSEWHERE))) == ([], ["a"])
    assert not index.release_place("a", ELSEWHERE)
    index.remove_place("a", "x")
    assert is_empty(index)


def test_places_of_two_groups_at_one_address_have_nothing_to_do_with_each_other() -> None:
    index = BrokerIndex()
    index.hold_place("a", KEY)
    index.hold_place("b", KEY)
    index.hold_place("b", ELSEWHERE)
    index.remove_place("b", "x")
    assert (list(index.names_at(KEY)), list(index.names_at(ELSEWHERE))) == (["a"], [])


def test_what_is_not_there_is_forgotten_without_an_error() -> None:
    index = BrokerIndex()
    index.remove_from_channels(KEY, (1, 2))
    index.remove_place("a", "x")
    assert not index.release_place("a", KEY)
    assert is_empty(index)
