"""Sizes and durations, also of what is not known."""

import pytest

from nsadmin.commands.units import counted, fine_millis, millis, size
from nsadmin.output import Bytes, FineMillis, Millis


@pytest.mark.parametrize(
    ("made", "kind"), [(size(1536), Bytes), (millis(1536), Millis), (fine_millis(1536), FineMillis)]
)
def test_a_number_has_its_unit_and_stays_what_it_is(made: object, kind: type) -> None:
    assert isinstance(made, kind)
    assert made == 1536


def test_what_is_unknown_has_none() -> None:
    assert [size(None), millis(None), fine_millis(None)] == [None] * 3


def test_a_number_of_things() -> None:
    assert [counted(number, "topic") for number in (0, 1, 2)] == ["0 topics", "1 topic", "2 topics"]
