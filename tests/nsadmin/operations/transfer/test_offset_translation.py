"""Offsets through copies: a group misses nothing, and what it gets again is counted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from nsadmin.operations.transfer.offset_translation import TranslatedQueue, translate_offsets
from nsadmin.operations.transfer.verification import load_transfer
from tests.support.transfer_clusters import COPIED, ClusterPair, open_pair


def translate(pair: ClusterPair, offset: int) -> TranslatedQueue:
    """The first queue, for a group that consumed up to this source offset."""
    plan = load_transfer(pair.clusters, COPIED)
    offsets = {planned.source: offset if planned.queue.queue_id == 0 else 0 for planned in plan.queues}
    return translate_offsets(pair.clusters, plan, offsets)[0]


def fill(pair: ClusterPair, count: int) -> None:
    for number in range(count):
        pair.source.store_message(b"%d" % number)


def test_copies_alone_are_found_by_binary_search(pair: ClusterPair) -> None:
    pair.target.store_message(b"before the transfer")
    fill(pair, 500)
    pair.copy_all()
    pulls = pair.target.asked_codes().count(11)
    translated = translate(pair, 333)
    assert (translated.offset, translated.repeated_count, translated.missed_count) == (334, 0, 0)
    # Reading every copy would take more.
    assert pair.target.asked_codes().count(11) - pulls < 16


def test_a_message_of_another_producer_is_not_missed(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.copy_all()
    pair.target.store_message(b"of another producer")
    fill(pair, 10)
    pair.copy_all()
    translated = translate(pair, 15)
    assert (translated.offset, translated.repeated_count) == (10, 5)
    assert translate(pair, 5).offset == 5


def test_a_group_ahead_of_the_transfer_gets_the_next_copies_again(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.copy_all()
    fill(pair, 5)
    translated = translate(pair, 13)
    assert (translated.offset, translated.repeated_count) == (10, 3)


def test_messages_before_the_transfer_are_missed_and_counted(pair: ClusterPair) -> None:
    fill(pair, 10)
    pair.source.oldest = 4
    pair.copy_all()
    translated = translate(pair, 1)
    assert (translated.offset, translated.missed_count) == (0, 3)


@settings(max_examples=12)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["copies", "repeat", "foreign"]), st.integers(1, 40)), max_size=8
    ),
    consumed=st.integers(0, 80),
)
def test_no_unconsumed_message_lies_before_the_new_offset(
    steps: list[tuple[str, int]], consumed: int
) -> None:
    with open_pair() as pair:
        fill(pair, 80)
        pair.copy_all()
        originals = pair.copied_messages()
        pair.target.queues["T", 0].clear()
        position = 0
        for kind, count in [*steps, ("copies", 80)]:
            if kind == "foreign":
                for _ in range(count):
                    pair.target.store_message(b"of another producer")
                continue
            position = max(0, position - count) if kind == "repeat" else position
            for original in originals[position : position + count]:
                pair.target.store_again(original)
            position = min(80, position + count)
        translated = translate(pair, consumed)
        offsets = [int(m.properties.get("NSADMIN_SOURCE_OFFSET", -1)) for m in pair.copied_messages()]
        before, after = offsets[: translated.offset], offsets[translated.offset :]
        assert -1 not in before
        assert set(after) >= set(range(consumed, 80))
        copies = [offset for offset in after if offset >= 0]
        unconsumed = {offset for offset in copies if offset >= consumed}
        assert translated.repeated_count == len(copies) - len(unconsumed)
