"""Invalid UTF-8 becomes what Java makes of it; the expected texts are those of a released 5.5.0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.protocol import java_utf8


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xed\xa0\x80", "\ufffd"),
        (b"a\xed\xbf\xbfb", "a\ufffdb"),
        (b"\xed\xa0\x80\xed\xb0\x80", "\ufffd\ufffd"),
        (b"\xed\xa0x", "\ufffdx"),
        (b"\xed\xa0\xed\xa0\x80", "\ufffd\ufffd"),
        (b"\xed\xb0\xc3\xa9", "\ufffd\u00e9"),
        (b"\xff", "\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xe0\x80\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xf0\x90(\xbc", "\ufffd(\ufffd"),
    ],
)
def test_invalid_bytes_are_replaced_as_java_replaces_them(data: bytes, text: str) -> None:
    assert data.decode("utf-8", java_utf8.REPLACE) == text


@given(st.text())
def test_valid_text_is_not_changed_and_a_surrogate_becomes_one_character(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for handler in (java_utf8.REPLACE, java_utf8.REPLACE_IN_JSON):
        assert len(data.decode("utf-8", handler)) == len(text)


@given(st.binary(max_size=8))
def test_in_json_invalid_bytes_are_replaced_likewise_or_refused(data: bytes) -> None:
    try:
        in_json = data.decode("utf-8", java_utf8.REPLACE_IN_JSON)
    except UnicodeDecodeError:
        return
    assert in_json == data.decode("utf-8", java_utf8.REPLACE)


@pytest.mark.parametrize(
    "data",
    [b"\x80", b"\xbf\xbf", b"\xff", b"\xf8\x88\x80\x80\x80", b'\xc3"', b'\xe2\x82"', b"\xed\xa0", b"\xe0\\n"],
)
def test_in_json_a_character_that_cannot_begin_so_or_has_no_end_is_refused(data: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        data.decode("utf-8", java_utf8.REPLACE_IN_JSON)
