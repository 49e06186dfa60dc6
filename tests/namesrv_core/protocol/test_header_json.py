"""JSON headers, as leniently as 5.5.0 takes them where peers depend on it, and no more."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import header_json
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.header_json import decode, encode
from tests.support.memory import MEGABYTE, kept_megabytes


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    header_json._decoded_headers.clear()
    yield
    header_json._decoded_headers.clear()


def header(members: str) -> bytes:
    return f'{{"flag":0,"language":"JAVA","opaque":1,"version":479,{members}}}'.encode()


def code_of(text: str) -> int:
    return decode(header(f'"code":{text}'), b"").code


def ext_of(text: str) -> object:
    return decode(header(f'"code":101,"extFields":{text}'), b"").ext


def refused(data: bytes) -> bool:
    with pytest.raises(ProtocolError):
        decode(data, b"")
    return True


@pytest.mark.parametrize(
    "text", ["101", '"101"', "101.0", "101.7", "101e0", "1.01e2", "[101]", "4294967397.0"]
)
def test_a_code_is_taken_in_any_of_these_spellings(text: str) -> None:
    assert code_of(text) == 101


@pytest.mark.parametrize("text", ["null", '""', "{}"])
def test_a_code_that_is_nothing_is_0(text: str) -> None:
    assert code_of(text) == 0


def test_a_header_without_any_member_is_code_0() -> None:
    assert decode(b"{}", b"") == RemotingCommand(0, opaque=0, flag=0, language="", version=0)


@pytest.mark.parametrize("text", ["4e9", "1e400", '"1e20"'])
def test_a_code_with_an_exponent_that_is_too_large_is_the_largest_int(text: str) -> None:
    assert code_of(text) == 2**31 - 1


def test_a_code_of_true_is_1() -> None:
    assert code_of("true") == 1


@pytest.mark.parametrize(
    "text", ['"abc"', "99999999999", "2147483648", "0x65", '"0x65"', "[1,2]", "[]", '"Infinity"', '"NaN"']
)
def test_a_code_that_is_no_int_closes_the_connection(text: str) -> None:
    assert refused(header(f'"code":{text}'))


def test_the_last_of_two_codes_counts() -> None:
    assert code_of('1,"code":2') == 2


def test_member_names_are_case_sensitive() -> None:
    assert decode(header('"CODE":101'), b"").code == 0


def test_a_member_name_may_be_written_with_escapes() -> None:
    assert decode(header('"\\u0063ode":101'), b"").code == 101


@pytest.mark.parametrize("language", ['"KLINGON"', '"java"', '""', "null", "5"])
def test_any_language_is_taken(language: str) -> None:
    assert decode(f'{{"code":101,"language":{language}}}'.encode(), b"").code == 101


@pytest.mark.parametrize("member", ["language", "serializeTypeCurrentRPC"])
def test_a_name_that_is_a_number_too_large_closes_the_connection(member: str) -> None:
    assert decode(f'{{"code":101,"{member}":"99"}}'.encode(), b"").code == 101
    assert refused(f'{{"code":101,"{member}":"2147483648"}}'.encode())


def test_a_language_may_be_its_number() -> None:
    assert decode(b'{"code":101,"language":9}', b"").language == "GO"


def test_a_language_may_be_a_fraction() -> None:
    assert decode(b'{"code":101,"language":9.5}', b"").language == "GO"


@pytest.mark.parametrize(
    "members",
    [
        '"code":1e2048', '"opaque":"1e2048"', '"code":1,"remark":1e-2048', '"code":1,"language":0e2048',
        '"code":1,"extFields":{"k":0e99999}', '"code":1,"extFields":{"k":{"a":[1e2048]}}',
    ],
)  # fmt: skip
def test_an_exponent_beyond_2047_closes_the_connection_where_it_is_read(members: str) -> None:
    assert refused(f"{{{members}}}".encode())
    assert decode(b'{"code":101,"unread":1e2048,"extFields":{"k":"1e2048"}}', b"").ext == {"k": "1e2048"}


@pytest.mark.parametrize("text", ["99", "99.5", "1e3", "{}", "-1"])
@pytest.mark.parametrize("member", ["language", "serializeTypeCurrentRPC"])
def test_a_name_that_no_number_or_text_stands_for_closes_the_connection(member: str, text: str) -> None:
    assert refused(f'{{"code":101,"{member}":{text}}}'.encode())


@pytest.mark.parametrize(("text", "number"), [('"479"', 479), ("null", 0), ("1.5", 1), ('""', 0)])
@pytest.mark.parametrize("member", ["version", "flag"])
def test_version_and_flag_may_be_text_or_nothing(member: str, text: str, number: int) -> None:
    assert getattr(decode(f'{{"code":1,"{member}":{text}}}'.encode(), b""), member) == number


@pytest.mark.parametrize("text", ['"x"', "NaN", "Infinity", "-Infinity"])
def test_a_version_that_is_no_number_closes_the_connection(text: str) -> None:
    assert refused(f'{{"code":1,"version":{text}}}'.encode())


@pytest.mark.parametrize(
    ("text", "number"), [('"7"', 7), ("-7", -7), ("2147483647", 2147483647), ("-2147483648", -2147483648)]
)
def test_an_opaque_is_any_int(text: str, number: int) -> None:
    assert decode(f'{{"code":1,"opaque":{text},"flag":0}}'.encode(), b"").opaque == number


@pytest.mark.parametrize("text", ["2147483648", "-2147483649", "99999999999999999999"])
def test_an_opaque_beyond_an_int_closes_the_connection(text: str) -> None:
    assert refused(f'{{"code":1,"opaque":{text},"flag":0}}'.encode())


@pytest.mark.parametrize("text", ["null", '""'])
def test_ext_fields_may_be_nothing(text: str) -> None:
    assert ext_of(text) is None


def test_ext_fields_that_are_not_there_are_none() -> None:
    assert decode(header('"code":1'), b"").ext is None
    assert ext_of("{}") == {}


@pytest.mark.parametrize("text", ["[]", '"x"', "5", "true"])
def test_ext_fields_that_are_no_object_close_the_connection(text: str) -> None:
    assert refused(header(f'"code":101,"extFields":{text}'))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", "5"),
        ("-1.50", "-1.50"),
        ("true", "true"),
        ("false", "false"),
        ("null", None),
        ('""', ""),
        ('{"a":1,"b":[2]}', '{"a":1,"b":[2]}'),
        ('[1,"2"]', '[1,"2"]'),
        ('{"a":[1.50,1e3,1e309]}', '{"a":[1.50,1000.0,null]}'),
        ("1e3", "1000.0"),
        ("1E-2", "0.01"),
        ("-0", "0"),
        ("1e400", "Infinity"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ('"a\nb\tc\x00d"', "a\nb\tc\x00d"),
        ('"\\u0041"', "A"),
    ],
)
def test_an_ext_value_of_another_type_becomes_its_text(text: str, value: str | None) -> None:
    assert ext_of(f'{{"k":{text}}}') == {"k": value}


@pytest.mark.parametrize(
    "text", [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80", b"\xed\xa0", b"a\xe9b"]
)
@pytest.mark.parametrize("member", [b'"extFields":{"k":"%s"}', b'"extFields":{"%s":"v"}', b'"remark":"%s"'])
def test_text_that_is_no_utf_8_closes_the_connection(text: bytes, member: bytes) -> None:
    assert refused(b'{"code":101,%s}' % (member % text))


def test_a_surrogate_in_utf_8_is_one_replaced_character() -> None:
    header = b'{"code":101,"extFields":{"k":"a\xed\xa0\x80b\xed\xbf\xbf"}}'
    assert decode(header, b"").ext == {"k": "a\ufffdb\ufffd"}


def test_the_last_of_two_ext_fields_counts() -> None:
    assert ext_of('{"k":"1","k":"2"}') == {"k": "2"}


def test_a_lone_surrogate_is_written_back_as_a_question_mark() -> None:
    command = decode(header('"code":101,"extFields":{"k":"\\ud800"}'), b"")
    assert b'"k":"?"' in encode(RemotingCommand(0, command.ext))


@pytest.mark.parametrize(
    "members",
    [
        '"remark":5', '"remark":{"a":1}', '"serializeTypeCurrentRPC":"ODD"',
        '"serializeTypeCurrentRPC":null', '"suspended":true', '"onewayRPC":1', '"@type":"x"',
        '"new":{"a":[1]}',
    ],
)  # fmt: skip
def test_members_that_nobody_asks_for_may_be_anything(members: str) -> None:
    assert decode(header(f'"code":101,{members}'), b"").code == 101


def test_a_member_body_closes_the_connection() -> None:
    assert refused(header('"code":101,"body":"eA=="'))


@pytest.mark.parametrize(
    "text", ["null", "[]", "123", '"abc"', '""', "true", "", " ", '{"code":1', '{"code":']
)
def test_a_header_that_is_no_object_closes_the_connection(text: str) -> None:
    assert refused(text.encode())


@pytest.mark.parametrize("after", ["x", "}", ";", "{}", ',"a":1'])
def test_text_after_the_header_closes_the_connection(after: str) -> None:
    assert refused(b'{"code":101}' + after.encode())


def test_blanks_around_the_header_are_taken() -> None:
    assert decode(b' \r\n\t{"code":101} \n', b"").code == 101


@pytest.mark.parametrize(
    "text",
    [
        "{code:101}",
        '\ufeff{"code":101}',
        '{"code":101,"extFields":{1:"a"}}',
        '{"code":101,"extFields":{"k":undefined}}',
        '{"code":101,"extFields":{"k":TRUE}}',
        '{"code":101,"extFields":{"k":"\\q"}}',
    ],
    ids=["bare name", "byte order mark", "integer key", "undefined", "TRUE", "unknown escape"],
)
def test_what_5_5_0_refuses_is_refused(text: str) -> None:
    assert refused(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "{'code':101}",
        '{"code":101,}',
        '{"code":101,,"flag":0}',
        '{"code":101/* why */}',
        '{"code":101}// why',
        '{"code":101,"extFields":{"k":"\\x41"}}',
        '{"code":+101}',
        '{"code":0101}',
        '{"code":1,"opaque":007,"flag":0}',
    ],
    ids=[
        "single quotes", "trailing comma", "two commas", "comment", "line comment", "\\x41", "+101",
        "0101", "opaque 007",
    ],
)  # fmt: skip
def test_malformed_json_that_5_5_0_lets_pass_is_refused(text: str) -> None:
    assert refused(text.encode())


def test_a_header_nested_too_deeply_closes_the_connection() -> None:
    assert refused(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")


def test_the_body_is_handed_on() -> None:
    assert decode(header('"code":1'), b"\x00body").body == b"\x00body"


def test_a_header_is_written_as_java_writes_it() -> None:
    command = RemotingCommand(22, {"b": '"\\\x01/é', "a": None}, opaque=-1, flag=1, remark="no\nway")
    assert encode(command).decode() == (
        '{"code":22,"extFields":{"b":"\\"\\\\\\u0001/é"},"flag":1,"language":"JAVA","opaque":-1,'
        '"remark":"no\\nway","serializeTypeCurrentRPC":"JSON","version":513}'
    )


def test_control_characters_are_escaped_in_lower_case_and_nothing_else_is() -> None:
    text = "".join(map(chr, range(0x20))) + "\x7f\x80\u2028\u2029\ufeff"
    escaped = encode(RemotingCommand(0, remark=text)).decode()
    assert "\\u000b" in escaped
    assert "\\b\\t\\n\\u000b\\f\\r" in escaped
    assert "\x7f\x80\u2028\u2029\ufeff" in escaped


FOOLING = [
    '{"code":1,"extFields":{"opaque":%s,"k":"v"},"flag":0}',
    '{"code":1,"extFields":{"opaque":%s,"k":"v"},"opaque":5,"flag":0}',
    '{"code":1,"opaque":5,"extFields":{"opaque":%s,"k":"v"}}',
    '{"code":1,"opaque":5,"opaque":%s,"flag":0}',
    '{"code":1,"opaque":%s,"opaque":5,"flag":0}',
    '{"code":1,"opaque":%s,"flag":0,"opaque" :5}',
    '{"opaque" :5,"x":{"opaque":%s,"y":1}}',
    '{"opaqu\\u0065":5,"x":{"opaque":%s,"y":1}}',
    '{"opaque":%s,"flag":0,"opaqu\\u0065":5}',
    '{"code":1,"flag":0,"opaque":%s}',
    '{"code":1,"remark":"\\"opaque\\":%s,","opaque":5,"flag":0}',
    '{"code":1,"opaque":%s,"flag":0}',
    '{"opaque":%s,"extFields":{"a":"b"}}',
]
NUMBERS = [
    "5", "6", "0", "00", "007", "999999999", "1234567890", "2147483647", "2147483648", "-6", "6.5", '"6"',
    " 6", "",
]  # fmt: skip


def outcome(text: str) -> RemotingCommand | str:
    try:
        return decode(text.encode(), b"")
    except ProtocolError:
        return "refused"


@pytest.mark.parametrize("text", FOOLING)
def test_a_remembered_header_never_changes_what_is_read(text: str) -> None:
    fresh = []
    for number in NUMBERS:
        header_json._decoded_headers.clear()
        fresh.append(outcome(text % number))
    header_json._decoded_headers.clear()
    for _ in range(2):
        assert [outcome(text % number) for number in NUMBERS] == fresh


def test_a_plain_header_is_remembered_by_all_but_its_opaque() -> None:
    for number in (1, 2, 999999999, 1000000000):
        assert outcome(FOOLING[-2] % number) == RemotingCommand(1, opaque=number, language="", version=0)
    assert len(header_json._decoded_headers) == 1


def test_each_of_two_remembered_headers_keeps_its_own_body() -> None:
    first, second = (decode(b'{"code":1,"opaque":1,"flag":0}', body) for body in (b"one", b"two"))
    assert (first.body, second.body) == (b"one", b"two")


@pytest.mark.parametrize("field_count", [0, 100])
def test_memory_for_headers_is_bounded(field_count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_json._decoded_headers, "_max_bytes", MEGABYTE)

    def decode_many_headers() -> None:
        for number in range(750 if field_count else 3_000):
            ext = ",".join(f'"{number + field}":""' for field in range(field_count))
            decode(f'{{"code":{number},"opaque":1,"extFields":{{{ext}}}}}'.encode(), b"")

    assert kept_megabytes(decode_many_headers) < 1


def test_a_long_header_is_not_remembered() -> None:
    before = len(header_json._decoded_headers)
    decode(f'{{"opaque":1,"remark":"{"x" * 2000}"}}'.encode(), b"")
    assert len(header_json._decoded_headers) == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.sampled_from(
    ["code", "flag", "opaque", "version", "language", "remark", "extFields", "body", "x"]
)


@given(st.dictionaries(MEMBERS, JSON))
def test_any_json_object_is_a_command_or_refused(fields: dict[str, object]) -> None:
    import json

    outcome(json.dumps(fields))
