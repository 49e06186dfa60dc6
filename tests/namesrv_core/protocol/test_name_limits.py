"""The limit of names: how long the names are that a peer makes and the server keeps."""

import pytest

from namesrv_core.errors import OverLimit
from namesrv_core.protocol.name_limits import check_name, check_topic_name
from namesrv_core.protocol.size_limits import UNLIMITED


@pytest.mark.parametrize("name", [None, "", "a" * 255, "\u00e9" * 127, "\U0001f600" * 63])
def test_a_name_of_255_bytes_and_no_name_are_accepted(name: str | None) -> None:
    check_name("zone", name, 255)


@pytest.mark.parametrize(("name", "size"), [("a" * 256, 256), ("\u00e9" * 128, 256), ("\ud800" * 256, 256)])
def test_a_longer_name_is_refused_by_its_bytes(name: str, size: int) -> None:
    with pytest.raises(OverLimit, match=rf"a zone name of {size} bytes .*, over the limit maxNameBytes$"):
        check_name("zone", name, 255)


def test_a_refusal_shows_the_begin_of_the_name_without_unsafe_characters() -> None:
    with pytest.raises(OverLimit) as refused:
        check_name("broker", "a\n" + "b" * 1_000_000, 255)
    assert refused.value.remark == (
        r'a broker name of 1000002 bytes ("a\n'
        + "b" * 38
        + '...") instead of at most 255, over the limit maxNameBytes'
    )


@pytest.mark.parametrize("prefix", ["%RETRY%", "%DLQ%"])
def test_a_topic_that_an_old_broker_makes_of_a_group_and_a_topic_may_be_twice_as_long(prefix: str) -> None:
    longest = prefix + "g" * 255 + "_" + "t" * 127
    check_topic_name(longest, 255)
    check_topic_name(longest.ljust(510, "t"), 255)
    with pytest.raises(OverLimit):
        check_topic_name(longest.ljust(511, "t"), 255)
    with pytest.raises(OverLimit):
        check_topic_name(longest.replace("%", "-"), 255)


def test_without_a_limit_no_name_is_too_long() -> None:
    check_topic_name("a" * 1_000_000, UNLIMITED)
