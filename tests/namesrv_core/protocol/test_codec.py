"""Whole frames: the golden ones byte for byte, and any command through both header forms."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import ProtocolError
from namesrv_core.protocol import codec, header_json
from namesrv_core.protocol.codes import LANGUAGE_NAMES, HeaderType
from namesrv_core.protocol.command import RemotingCommand
from tests.support.wire import carry_command

GOLDEN = Path(__file__).parents[2] / "golden" / "wire"
JAVA_5_3 = 479
BINARY = HeaderType.ROCKETMQ

WORKED = {
    "get_route_request_json": RemotingCommand(105, {"topic": "TBW102"}, opaque=1, version=JAVA_5_3),
    "get_route_request_binary": RemotingCommand(
        105, {"topic": "TBW102"}, opaque=1, version=JAVA_5_3, header_type=BINARY
    ),
    "query_data_version_answer_binary": RemotingCommand(
        0, {"changed": "true"}, opaque=2, flag=1, version=JAVA_5_3, header_type=BINARY
    ),
    "kv_list_refused_binary": RemotingCommand(
        22, opaque=1, flag=1, remark="No config item, Namespace: q", version=JAVA_5_3, header_type=BINARY
    ),
    "register_slave_answer_json": RemotingCommand(
        0,
        {"haServerAddr": "127.0.0.1:31100", "masterAddr": "127.0.0.1:31000"},
        opaque=2,
        flag=1,
        version=JAVA_5_3,
    ),
}

INT32 = st.integers(-(2**31), 2**31 - 1)
INT16 = st.integers(-(2**15), 2**15 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
COMMANDS = st.builds(
    RemotingCommand,
    INT16,
    st.none() | st.dictionaries(TEXT, TEXT, min_size=1, max_size=5),
    st.binary(),
    opaque=INT32,
    flag=INT32,
    remark=st.none() | TEXT,
    language=st.sampled_from(LANGUAGE_NAMES),
    version=INT16,
    header_type=st.sampled_from(HeaderType),
)


@pytest.mark.parametrize("name", WORKED)
def test_a_worked_frame_is_encoded_byte_for_byte(name: str) -> None:
    assert codec.encode_command(WORKED[name]) == (GOLDEN / f"{name}.bin").read_bytes()


@pytest.mark.parametrize("name", WORKED)
def test_a_worked_frame_is_understood(name: str) -> None:
    assert codec.decode_command((GOLDEN / f"{name}.bin").read_bytes()[4:]) == WORKED[name]


def test_every_golden_frame_is_described_in_the_readme() -> None:
    readme = (GOLDEN / "README.md").read_text()
    assert [path.name for path in GOLDEN.glob("*.bin") if f"`{path.name}`" not in readme] == []


@given(COMMANDS)
def test_any_command_survives_the_wire(command: RemotingCommand) -> None:
    assert carry_command(command) == command


@given(COMMANDS)
def test_a_command_read_a_second_time_is_the_same_again(command: RemotingCommand) -> None:
    header_json._decoded_headers.clear()
    assert carry_command(command) == carry_command(command) == command


def test_an_empty_text_survives_only_the_json_header(form: HeaderType) -> None:
    received = carry_command(RemotingCommand(100, {"value": "", "key": "k"}, remark="", header_type=form))
    if form is HeaderType.JSON:
        assert (received.ext, received.remark) == ({"value": "", "key": "k"}, "")
    else:
        assert (received.ext, received.remark) == ({"value": None, "key": "k"}, None)


def test_a_null_ext_value_is_left_out(form: HeaderType) -> None:
    received = carry_command(RemotingCommand(100, {"value": None, "key": "k"}, header_type=form))
    assert received.ext == {"key": "k"}


def test_no_ext_fields_and_empty_ones_differ_only_in_the_json_header(form: HeaderType) -> None:
    assert carry_command(RemotingCommand(1, None, header_type=form)).ext is None
    assert carry_command(RemotingCommand(1, {}, header_type=form)).ext == (
        {} if form is HeaderType.JSON else None
    )


def test_text_beyond_ascii_survives(form: HeaderType) -> None:
    command = RemotingCommand(100, {"ключ": "値😀\x7f\u2028\ufeff"}, remark="ü\n", header_type=form)
    assert carry_command(command) == command


@pytest.mark.parametrize(
    "payload",
    [
        b"\x00\x00\x00\x03{}", b"\x00\x00\x00\x00", b"\x01\x00\x00\x00", b"\x00\xff\xff\xff{}",
        b"\x02\x00\x00\x02{}", b"\xff\x00\x00\x02{}", b"\x01\x00\x00\x02{}",
    ],
    ids=[
        "header longer than its frame",
        "no JSON header",
        "no binary header",
        "header of 16 MiB",
        "header type 2",
        "header type -1",
        "JSON marked as binary",
    ],
)  # fmt: skip
def test_a_payload_without_a_header_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        codec.decode_command(payload)
