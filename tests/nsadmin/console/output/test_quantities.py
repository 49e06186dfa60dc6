"""Sizes and durations, also of what is not known."""

import pytest

from nsadmin.console.output import ByteSize, DurationMillis, FineDurationMillis
from nsadmin.console.output.quantities import to_bytes, to_fine_millis, to_millis
from nsadmin.console.phrases import count_noun


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (to_bytes(1536), ByteSize),
        (to_millis(1536), DurationMillis),
        (to_fine_millis(1536), FineDurationMillis),
    ],
)
def test_a_number_has_its_unit_and_stays_what_it_is(made: object, kind: type) -> None:
    assert isinstance(made, kind)
    assert made == 1536


def test_what_is_unknown_has_none() -> None:
    assert [to_bytes(None), to_millis(None), to_fine_millis(None)] == [None] * 3


def test_a_number_of_things() -> None:
    assert [count_noun(number, "topic") for number in (0, 1, 2)] == ["0 topics", "1 topic", "2 topics"]
