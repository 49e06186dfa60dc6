"""Bodies as text: JSON, what is not UTF-8, what would control a terminal, and long lines."""

import pytest

from nsadmin.tui.messages import body_text


@pytest.mark.parametrize(
    ("body", "preview"),
    [
        (b"", ""),
        (b'{\n  "id": 7\n}', '{ "id": 7 }'),
        (b"a\x1b[2Jb", "a\\x1b[2Jb"),
        ("ü\u202eabc".encode(), "ü\\u202eabc"),
        (b"\xff\xfe\x00", "0x ff fe 00"),
        (b"a\0b", "0x 61 00 62"),
        ("ä".encode() * 300, "ä" * 200),
        (b"x" + "ä".encode() * 300, "x" + "ä" * 199),
    ],
)
def test_a_preview_is_one_harmless_line(body: bytes, preview: str) -> None:
    assert body_text.preview_body(body) == preview


def test_json_is_put_on_several_lines() -> None:
    assert body_text.decode_automatically(b'{"id":[1,{"a":"\xc3\xa4"}]}') == (
        '{\n  "id": [\n    1,\n    {\n      "a": "ä"\n    }\n  ]\n}'
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{no json", "{no json"),
        (b"[" * 100_000, "[" * 100_000),
        (b"plain", "plain"),
        (b"\xff", None),
        (b"a\0b", None),
    ],
)
def test_what_is_no_json_is_shown_as_it_is(body: bytes, text: str | None) -> None:
    assert body_text.decode_automatically(body) == text


def test_hexadecimal_lines_have_offsets_and_characters() -> None:
    assert list(body_text.list_hex_lines(b"0123456789abcdef\x00\x1bZ")) == [
        "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
        "00000010  00 1b 5a                                          ..Z",
    ]


def test_lines_are_wrapped_by_their_width_on_the_terminal() -> None:
    assert list(body_text.wrap_text("abcdef\n\tx", 4)) == ["abcd", "ef", "    ", "x"]
    assert list(body_text.wrap_text("日本語x", 4)) == ["日本", "語x"]
    assert list(body_text.wrap_text("e\u0301" * 3, 2)) == ["e\u0301" * 2, "e\u0301"]
    assert list(body_text.wrap_text("", 10)) == [""]


def test_control_characters_are_escaped_before_wrapping() -> None:
    assert list(body_text.wrap_text("\x1b\x07", 4)) == ["\\x1b", "\\x07"]


def test_a_very_long_text_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_text, "MAX_SHOWN_CHARACTERS", 10)
    assert list(body_text.wrap_text("x" * 25, 5)) == ["xxxxx", "xxxxx", "… 15 characters more"]
