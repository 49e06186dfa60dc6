"""Bodies of lists: computed once for all readers, one after the other, and kept while nothing has changed."""

import json
from collections.abc import Callable, Generator

import pytest

from namesrv_core.protocol import json_bodies
from namesrv_core.state import list_cache
from namesrv_core.state.list_cache import BodySteps, ListCache, PlacementTest, encode_topics_in_steps
from namesrv_core.state.route_tables import RouteTables
from tests.support.brokers import TableHarness, make_queue, make_topic

STEPS = 3


class Work:
    """Computations of lists, and how many steps each key has taken."""

    def __init__(self, cache: ListCache) -> None:
        self.taken: list[str] = []
        self.open_count = self.most_open = 0
        self._cache = cache

    def read(self, key: str) -> BodySteps:
        return self._cache.compute_in_steps(key, self.begin(key))

    def begin(self, key: str) -> Callable[[], BodySteps]:
        def steps() -> Generator[None, None, bytes]:
            self.open_count += 1
            self.most_open = max(self.most_open, self.open_count)
            try:
                for _ in range(STEPS):
                    yield
                    self.taken.append(key)
            finally:
                self.open_count -= 1
            return f"{key} {len(self.taken)}".encode()

        return steps


@pytest.fixture
def tables() -> RouteTables:
    return RouteTables()


@pytest.fixture
def cache(tables: RouteTables) -> ListCache:
    return ListCache(tables)


@pytest.fixture
def work(cache: ListCache) -> Work:
    return Work(cache)


def run_in_turns(*readers: BodySteps) -> list[bytes]:
    """What each reader gets if they take their steps one after the other."""
    bodies: dict[int, bytes] = {}
    while len(bodies) < len(readers):
        for index, reader in enumerate(readers):
            if index not in bodies:
                try:
                    next(reader)
                except StopIteration as ended:
                    bodies[index] = ended.value
    return [bodies[index] for index in range(len(readers))]


def test_a_list_is_computed_once_while_nothing_changes(cache: ListCache, work: Work) -> None:
    assert cache.get_body("a") is None
    assert run_in_turns(work.read("a")) == [b"a 3"]
    assert cache.get_body("a") == b"a 3"
    assert run_in_turns(work.read("a")) == [b"a 3"]


def test_a_small_list_is_computed_at_once(cache: ListCache, work: Work) -> None:
    assert cache.compute_at_once("a", work.begin("a")()) == b"a 3"
    assert cache.get_body("a") == b"a 3"


def test_a_change_of_the_tables_forgets_all_lists(tables: RouteTables, cache: ListCache, work: Work) -> None:
    run_in_turns(work.read("a"))
    tables.generation += 1
    assert cache.get_body("a") is None
    assert run_in_turns(work.read("a")) == [b"a 6"]


def test_readers_of_one_list_share_its_computation(work: Work) -> None:
    bodies = run_in_turns(*(work.read("a") for _ in range(12)))
    assert bodies == [b"a 3"] * 12
    assert all(body is bodies[0] for body in bodies)


def test_readers_of_different_lists_compute_one_after_the_other(work: Work) -> None:
    bodies = run_in_turns(*(work.read(key) for key in "abcab"))
    assert [body[:1] for body in bodies] == [b"a", b"b", b"c", b"a", b"b"]
    assert sorted(work.taken) == sorted("abc" * STEPS)
    assert work.most_open == 1


def test_a_reader_that_leaves_does_not_stop_the_others(work: Work) -> None:
    first, second = work.read("a"), work.read("a")
    next(first)
    next(second)
    first.close()
    assert run_in_turns(second) == [b"a 3"]


@pytest.mark.parametrize("count", [1, 2])
def test_a_computation_that_all_readers_have_left_is_dropped(work: Work, count: int) -> None:
    readers = [work.read("a") for _ in range(count)]
    for reader in readers:
        next(reader)
    for reader in readers:
        reader.close()
    del readers
    assert work.open_count == 0
    assert run_in_turns(work.read("b")) == [f"b {count + 2}".encode()]
    assert work.most_open == 1


def test_a_reader_that_asks_after_a_change_gets_a_list_with_that_change(
    tables: RouteTables, cache: ListCache, work: Work
) -> None:
    early = work.read("a")
    next(early)
    tables.generation += 1
    late = work.read("a")
    assert run_in_turns(early, late) == [b"a 3", b"a 6"]
    assert cache.get_body("a") == b"a 6"


def test_a_list_that_was_computed_while_the_tables_changed_is_not_kept(
    tables: RouteTables, cache: ListCache, work: Work
) -> None:
    reader = work.read("a")
    next(reader)
    tables.generation += 1
    assert run_in_turns(reader) == [b"a 3"]
    assert cache.get_body("a") is None


def test_a_failed_computation_fails_for_its_readers_and_for_nobody_else(cache: ListCache, work: Work) -> None:
    def fail_in_steps() -> Generator[None, None, bytes]:
        yield
        raise ZeroDivisionError

    first, second = (cache.compute_in_steps("a", fail_in_steps) for _ in range(2))
    next(first)
    with pytest.raises(ZeroDivisionError):
        next(second)
    with pytest.raises(AssertionError):
        next(first)
    assert run_in_turns(work.read("a")) == [b"a 3"]


def test_memory_for_lists_is_bounded(tables: RouteTables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_cache, "_MAX_CACHE_BYTES", 3_000)
    cache = ListCache(tables)

    def encode(size: int) -> Generator[None, None, bytes]:
        yield
        return bytes(size)

    for number in range(10):
        assert len(cache.compute_at_once(number, encode(1_000))) == 1_000
    assert [number for number in range(10) if cache.get_body(number)] == [8, 9]
    assert len(cache.compute_at_once("large", encode(10_000))) == 10_000
    assert cache.get_body("large") is None


def count_steps(steps: BodySteps) -> tuple[bytes, int]:
    """The body, and in how many steps it was encoded."""
    step_count = 0
    while True:
        try:
            next(steps)
            step_count += 1
        except StopIteration as ended:
            return ended.value, step_count


def listed(tables: RouteTables, is_listed: PlacementTest | None = None) -> list[str]:
    body = ListCache(tables).compute_at_once("key", encode_topics_in_steps(tables, is_listed))
    names: list[str] = json.loads(body)["topicList"]
    assert body == json_bodies.encode_topic_list(names)
    return names


def test_topics_of_a_cluster_are_those_that_one_of_its_brokers_has() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("b", 0, ["U", "V"], cluster="d")
    for cluster, names in (("d", ["U", "V"]), ("x", []), (None, [])):
        assert listed(lab.tables, list_cache.build_cluster_test(lab.tables, cluster)) == names


def test_unit_topics_go_by_the_flags_of_their_first_broker() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, [make_topic(f"T{flag}", sys_flag=flag) for flag in range(4)])
    lab.register_broker("b", 0, [make_topic("T0", sys_flag=3), make_topic("T3")])
    assert listed(lab.tables, list_cache.is_unit_topic) == ["T1", "T3"]
    assert listed(lab.tables, list_cache.is_unit_sub_topic) == ["T2", "T3"]
    assert listed(lab.tables, list_cache.is_unit_sub_ununit_topic) == ["T2"]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10])
def test_all_topics_are_listed_in_order_and_a_few_in_each_step(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_cache, "_TOPICS_PER_STEP", 3)
    tables = RouteTables()
    names = [f'T"{number}\u00e9' for number in range(count)]
    for name in names:
        tables.set_queue(name, make_queue("a", queues=len(name)))
    assert listed(tables) == names
    body, step_count = count_steps(encode_topics_in_steps(tables))
    assert (json.loads(body), step_count) == ({"topicList": names}, (count + 2) // 3)


def test_a_list_leaves_out_topics_that_no_longer_belong_to_it_when_their_step_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(list_cache, "_TOPICS_PER_STEP", 1)
    tables = RouteTables()
    for name in "TUVW":
        tables.set_queue(name, make_queue("a", sys_flag=1))
    steps = encode_topics_in_steps(tables, list_cache.is_unit_topic)
    next(steps)
    tables.drop_queue("U", "a")
    tables.set_queue("V", make_queue("a", sys_flag=0))
    tables.set_queue("X", make_queue("a", sys_flag=1))
    assert json.loads(count_steps(steps)[0]) == {"topicList": ["T", "W"]}
