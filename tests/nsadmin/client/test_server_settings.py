"""The settings of servers as texts."""

import pytest

from namesrv_core.errors import RocketMQError
from nsadmin.client.server_settings import format_properties_line, require_change


@pytest.mark.parametrize(
    ("key", "now", "value", "need"),
    [
        ("item", "4194304", "8", None),
        ("item", "-1", "+08", None),
        ("item", "4", "abc", "a whole number"),
        ("item", "4", "1.5", "a whole number"),
        ("item", "4", "8 ", "a whole number"),
        ("item", "4", "", "a whole number"),
        ("item", "8000.0", "1e4", None),
        ("item", "8000.0", "abc", "a number"),
        ("item", "true", "FALSE", None),
        # A server would take it for false.
        ("item", "true", "yes", "true or false"),
        ("item", "true", "true ", "true or false"),
        ("item", "72h", "abc", None),
        ("item", "", "abc", None),
        # Texts in Java.
        ("deleteWhen", "4", "04;16", None),
        ("item", "04", "04;16", None),
    ],
)
def test_a_value_has_the_type_of_the_present_one(key: str, now: str, value: str, need: str | None) -> None:
    if need is None:
        assert require_change({key: now}, key, value, "broker") == now
    else:
        with pytest.raises(RocketMQError) as caught:
            require_change({key: now}, key, value, "broker")
        assert str(caught.value) == f'invalid value "{value}" of {key}: use {need} (now "{now}")'


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("k", "v", "k=v\n"),
        ("a b:c=d", "x=y:z w", "a\\ b\\:c\\=d=x=y:z w\n"),
        ("k", "  v ", "k=\\ \\ v \n"),
        ("k", "a\\b\n\té€😀#", "k=a\\\\b\\u000a\\u0009\\u00e9\\u20ac\\ud83d\\ude00\\#\n"),
    ],
)
def test_a_line_is_written_for_java(key: str, value: str, line: str) -> None:
    assert format_properties_line(key, value) == line


def test_javas_rules_read_back_what_was_written() -> None:
    from javaproperties import loads

    tricky = " \\=:#! \u00e9\u4e2d\U0001f600\n\r\t\\n"
    assert loads(format_properties_line(tricky, tricky)) == {tricky: tricky}
