"""The target queue of each source queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsadmin.client.results import NotApplied
from nsadmin.operations.transfer.queue_map import QueueId, map_queues


def queues(*texts: str) -> list[QueueId]:
    return [QueueId(text[0], int(text[1:])) for text in texts]


def mapped(sources: str, targets: str, *, merges: bool = False) -> str:
    mapping = map_queues("T", queues(*sources.split()), queues(*targets.split()), merges_queues=merges)
    return " ".join(f"{source[0]}{source[1]}>{target[0]}{target[1]}" for source, target in mapping.items())


@pytest.mark.parametrize(
    ("sources", "targets", "expected"),
    [
        ("a0 a1", "a0 a1 a2", "a0>a0 a1>a1"),
        ("a0 a1", "x0 x1", "a0>x0 a1>x1"),
        ("a0 b0", "b0 c0", "a0>c0 b0>b0"),
        ("a0 a1 b0 b1", "x0 x1 x2 x3", "a0>x0 a1>x1 b0>x2 b1>x3"),
        ("a0 a1 a2 a3", "x0 x1 y0 y1", "a0>x0 a1>x1 a2>y0 a3>y1"),
    ],
)
def test_a_queue_keeps_its_id_where_the_target_has_it(sources: str, targets: str, expected: str) -> None:
    assert mapped(sources, targets) == expected


def test_too_few_queues_are_refused_or_shared() -> None:
    with pytest.raises(NotApplied, match="T: the target has 2 writable queues, the source 3: add queues"):
        mapped("a0 a1 a2", "a0 a1")
    assert mapped("a0 a1 a2", "a0 a1", merges=True) == "a0>a0 a1>a1 a2>a0"


def test_a_queue_keeps_the_target_that_it_had_before() -> None:
    known = {QueueId("a", 0): QueueId("x", 1)}
    assert map_queues("T", queues("a0", "a1"), queues("x0", "x1"), known) == {
        QueueId("a", 0): QueueId("x", 1),
        QueueId("a", 1): QueueId("x", 0),
    }


QUEUES = st.lists(st.builds(QueueId, st.sampled_from("abc"), st.integers(0, 5)), min_size=1, unique=True)


@given(sources=QUEUES, targets=QUEUES)
def test_no_target_queue_is_shared_while_another_one_is_free(
    sources: list[QueueId], targets: list[QueueId]
) -> None:
    mapping = map_queues("T", sources, targets, merges_queues=True)
    assert mapping.keys() == set(sources)
    assert len(set(mapping.values())) == min(len(sources), len(targets))
