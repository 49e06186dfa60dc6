"""The JSON that Java speaks, read and written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.protocol.fastjson import (
    EncodedJson,
    decode_json,
    encode_json,
    encode_json_text,
    format_java_double,
    to_int,
    to_text,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def without_nulls(value: object) -> object:
    """What is left of a value that was written: no members that are null, `?` for lone surrogates."""
    if isinstance(value, dict):
        return {_sound(key): without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return _sound(value) if isinstance(value, str) else value


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@given(VALUES)
def test_what_is_written_reads_back(value: object) -> None:
    assert decode_json(encode_json(value)) == without_nulls(value)


@given(VALUES)
def test_what_is_written_is_json_for_everybody_in_the_standard_dialect(value: object) -> None:
    json.loads(encode_json(value, is_standard=True))


@given(VALUES, st.booleans())
def test_what_is_written_already_stands_as_it_is(value: object, standard: bool) -> None:
    ready = EncodedJson(encode_json_text(value, standard))
    assert encode_json({"x": ready, "a": [1]}, is_standard=standard) == encode_json(
        {"x": value if value is not None else ready, "a": [1]}, is_standard=standard
    )


@given(st.dictionaries(st.integers(), st.text(max_size=3)))
def test_integer_keys_are_bare_in_the_default_dialect_and_read_back_as_text(table: dict[int, str]) -> None:
    written = encode_json(table)
    assert decode_json(written) == {str(key): _sound(value) for key, value in table.items()}
    assert json.loads(encode_json(table, is_standard=True)) == decode_json(written)


def test_integer_keys_are_quoted_only_in_the_standard_dialect() -> None:
    assert encode_json({1: "b", 0: "a", -1: "c"}) == b'{-1:"c",0:"a",1:"b"}'
    assert encode_json({1: "b", 0: "a"}, is_standard=True) == b'{"0":"a","1":"b"}'


def test_text_keys_that_look_like_integers_stay_quoted() -> None:
    assert encode_json({"1": "a"}) == b'{"1":"a"}'


def test_members_are_sorted_and_without_blanks() -> None:
    assert (
        encode_json({"b": [1, True, False], "a": {"d": 1, "c": 2}})
        == b'{"a":{"c":2,"d":1},"b":[1,true,false]}'
    )


def test_null_members_are_left_out_and_null_elements_are_not() -> None:
    assert encode_json({"a": None, "b": [None, "f"]}) == b'{"b":[null,"f"]}'


@pytest.mark.parametrize("standard", [False, True])
def test_only_quotes_backslashes_and_control_characters_are_escaped(standard: bool) -> None:
    assert encode_json('"\\\b\t\n\x0b\f\r\x1f', is_standard=standard) == rb'"\"\\\b\t\n\u000b\f\r\u001f"'
    raw = "/'\x7f\x9f\u00a0\u2028\u2029\ufeffé😀"
    assert encode_json(raw, is_standard=standard) == f'"{raw}"'.encode()


def test_a_lone_surrogate_is_a_question_mark() -> None:
    assert encode_json("a\ud800b") == b'"a?b"'


@pytest.mark.parametrize("number", [2**53 - 1, -(2**53) + 1, 0])
def test_an_integer_that_a_double_holds_is_a_number_in_both_dialects(number: int) -> None:
    assert encode_json(number) == encode_json(number, is_standard=True) == str(number).encode()


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**63 - 1])
def test_a_larger_integer_is_text_in_the_standard_dialect(number: int) -> None:
    assert encode_json({"epoch": number}, is_standard=True) == f'{{"epoch":"{number}"}}'.encode()
    assert encode_json({"epoch": number}) == f'{{"epoch":{number}}}'.encode()


def test_what_is_no_json_value_is_not_written() -> None:
    with pytest.raises(TypeError):
        encode_json(object())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (1000.0, "1000.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.5e10, "1.5E10"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (0.01, "0.01"),
        (-1.5, "-1.5"),
        (123456.789, "123456.789"),
        (1e21, "1.0E21"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_a_double_is_written_as_java_writes_it(value: float, text: str) -> None:
    assert format_java_double(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_keeps_its_value(value: float) -> None:
    assert float(format_java_double(value)) == value


def test_bare_integer_keys_are_read_at_every_depth() -> None:
    assert decode_json(b'{"m":{0:0, 1 :{-2:[{3:"x"}]}},"t":"{4:5,6:7}"}') == {
        "m": {"0": 0, "1": {"-2": [{"3": "x"}]}},
        "t": "{4:5,6:7}",
    }


def test_text_that_looks_like_a_bare_key_is_left_alone() -> None:
    assert decode_json(b'{"a":"{1:\\"{2:","b":{3:4}}') == {"a": '{1:"{2:', "b": {"3": 4}}


def test_control_characters_inside_text_are_read() -> None:
    assert decode_json(b'{"a":"x\ny\tz\x00"}') == {"a": "x\ny\tz\x00"}


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"{a:1}", b"{'a':1}", b'{"a":1,}', b'{"a":1}x', b'{"a":NaN}', b'{"a":Infinity}',
        b'{"a":-Infinity}', b'{"a":/**/1}', b'\xef\xbb\xbf{"a":1}', b'{"a":"\xff"}', b'{"a":', b"[0,1:2]",
        b"{1:}", b"[" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_json_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_json(body)


def test_bad_utf_8_may_be_replaced_where_that_is_asked_for() -> None:
    assert decode_json(b'"a\xff"', errors="replace") == "a\ufffd"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5),
        ("5", 5),
        ("-5", -5),
        ("+5", 5),
        ("", 0),
        (None, 0),
        ({}, 0),
        (True, 1),
        (False, 0),
        (5.7, 5),
        (-5.7, -5),
        ("5.7", 5),
        ("1e3", 1000),
        ([4], 4),
        (["4"], 4),
        ([4.5], 4),
        ({"a": 1}, 0),
        ("null", 0),
    ],
)
def test_a_value_where_an_int_is_due_becomes_one(value: object, number: int) -> None:
    assert to_int(value) == number


@pytest.mark.parametrize(
    "value",
    [
        "rw",
        "0x10",
        [],
        [1, 2],
        [[1]],
        [None],
        [True],
        [{}],
        [""],
        " 5",
        "NaN",
        "Infinity",
        float("inf"),
        float("nan"),
        "9" * 5000,
    ],
)
def test_a_value_that_is_no_int_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        to_int(value)


def test_an_object_is_no_long() -> None:
    with pytest.raises(ValueError, match="not an integer"):
        to_int({}, 64)


@pytest.mark.parametrize(
    ("literal", "as_int", "as_long"),
    [
        # What a 5.5.0 name server reads as the opaque of a header, and as the counter of a DataVersion.
        ("4e9", 2**31 - 1, 4_000_000_000),
        ("-4E9", -(2**31), -4_000_000_000),
        ("1e20", 2**31 - 1, 2**63 - 1),
        ("-1e30", -(2**31), -(2**63)),
        ("1e400", 2**31 - 1, 2**63 - 1),
        ("4000000000.0", -294_967_296, 4_000_000_000),
        ("2147483648.5", -(2**31), 2_147_483_648),
        ("-2147483649.0", 2**31 - 1, -2_147_483_649),
        ("9223372036854775808.0", 0, -(2**63)),
        ("18446744073709551617.5", 1, 1),
        ("1e-5", 0, 0),
        ("12.7", 12, 12),
    ],
)
def test_a_decimal_number_that_does_not_fit_is_cut_like_java_does(
    literal: str, as_int: int, as_long: int
) -> None:
    for value in (literal, decode_json(literal.encode()), decode_json(f"[{literal}]".encode())):
        assert to_int(value) == as_int
    assert (to_int(literal, 64), to_int(decode_json(literal.encode()), 64)) == (as_long, as_long)
    assert decode_json(literal.encode()) == float(literal)


@pytest.mark.parametrize("number", ["1e2048", "-1.5E+2048", "1e-2048", "0e99999", "1e99999999999"])
def test_an_exponent_beyond_2047_is_refused_where_it_is_read(number: str) -> None:
    # The document is valid: Java passes over such a number in a member that it does not read.
    for text in (number, f'"{number}"', f"[{number}]"):
        value = decode_json(text.encode())
        for bits in (32, 64):
            with pytest.raises(ValueError, match=r"exponent of|not an integer"):
                to_int(value, bits)
    for text in (number, f"[{number}]", f'{{"a":[{number}]}}'):
        with pytest.raises(ValueError, match="exponent of"):
            to_text(decode_json(text.encode()))
    with pytest.raises(ValueError, match="exponent of"):
        to_int(decode_json(f'{{"a":{number}}}'.encode()))


@pytest.mark.parametrize(
    ("json_text", "as_text", "as_long"),
    [
        ("1e2047", "Infinity", 2**63 - 1),
        ("-1e308", "-1.0E308", -(2**63)),
        ("1e-2047", "0.0", 0),
        ("1e3", "1000.0", 1000),
        ("1.50", "1.50", 1),
        ("-0.0", "0.0", 0),
        ("0.00000001", "1E-8", 0),
        ("[0.00000001]", "[0.00000001]", 0),
        ("[1e308]", "[1.0E308]", 2**31 - 1),
        ("[1e309]", "[null]", 2**31 - 1),
        ("[3000000000]", "[3000000000]", 3_000_000_000 - 2**32),
        ("[3000000000.5]", "[3000000000.5]", 3_000_000_000 - 2**32),
        ("[12345678901234567890]", "[12345678901234567890]", -350_287_150),
    ],
)
def test_a_number_keeps_its_digits_as_text_and_is_an_int_in_a_list(
    json_text: str, as_text: str, as_long: int
) -> None:
    # What a released 5.5.0 name server made of them.
    value = decode_json(json_text.encode())
    assert (to_text(value), to_int(value, 64)) == (as_text, as_long)


@pytest.mark.parametrize(
    "json_list", [["1.5"], ["1e3"], ["3000000000"], ["null"], [""], [None], [True], [1, 2]]
)
def test_a_list_is_an_int_only_with_one_number(json_list: list[object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        to_int(json_list, 64)


@pytest.mark.parametrize("bits", [32, 64])
def test_an_int_has_to_fit(bits: int) -> None:
    largest = 2 ** (bits - 1)
    assert to_int(largest - 1, bits) == largest - 1
    assert to_int(str(-largest), bits) == -largest
    for beyond in (largest, -largest - 1, str(largest), float(largest)):
        with pytest.raises(ValueError, match="fit"):
            to_int(beyond, bits)


@pytest.mark.parametrize(
    ("value", "text"),
    [("x", "x"), (None, None), (5, "5"), (True, "true"), ([1, None], "[1,null]"), ({"a": 1}, '{"a":1}')],
)
def test_a_value_where_text_is_due_becomes_its_json(value: object, text: str | None) -> None:
    assert to_text(value) == text


def test_texts_that_do_not_end_are_looked_through_once() -> None:
    # With a look from each quote in it this would take hours.
    for body in (b'\\"' * 1_000_000, b'"' + b'\\"' * 1_000_000):
        with pytest.raises(ValueError, match=r"."):
            decode_json(body)
