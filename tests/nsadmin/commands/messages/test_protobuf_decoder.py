"""Protobuf bodies, decoded with a .proto file or a descriptor set."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from nsadmin.commands.messages import protobuf_decoder
from nsadmin.commands.messages.protobuf_decoder import load_protobuf_decoder
from nsadmin.console.exit_codes import UsageError

ITEM = """
syntax = "proto3";
package shop;
message Item { string name = 1; }
"""
ORDER = """
syntax = "proto3";
package shop;
import "item.proto";
import "google/protobuf/timestamp.proto";
message Order {
  int64 id = 1;
  repeated Item items = 2;
  google.protobuf.Timestamp created_at = 3;
  message Line { int32 count = 1; }
}
message Refund { message Line { int32 count = 1; } }
"""
BODY = b"\x08\x07\x12\x03\x0a\x01a\x1a\x02\x08\x05"
SHOWN = {"id": "7", "items": [{"name": "a"}], "createdAt": "1970-01-01T00:00:05Z"}


@pytest.fixture
def order_file(tmp_path: Path) -> Path:
    (tmp_path / "item.proto").write_text(ITEM)
    file = tmp_path / "order.proto"
    file.write_text(ORDER)
    return file


@pytest.mark.parametrize("type_name", ["shop.Order", "Order"])
def test_a_proto_file_is_compiled_with_its_imports(order_file: Path, type_name: str) -> None:
    assert load_protobuf_decoder(f"{order_file}#{type_name}")(BODY) == SHOWN


def test_a_descriptor_set_needs_no_compiler(order_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = order_file.with_name("order.binpb")
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{order_file.parent}", str(order_file)]
    options = ["--include_imports", f"--descriptor_set_out={compiled}"]
    include = f"-I{files('grpc_tools') / '_proto'}"
    subprocess.run([*command, *options, include], check=True)
    monkeypatch.setattr(subprocess, "run", None)
    assert load_protobuf_decoder(f"{compiled}#Order")(BODY) == SHOWN


def test_a_body_of_another_type_is_an_error(order_file: Path) -> None:
    decode = load_protobuf_decoder(f"{order_file}#Order")
    assert decode(b"") == {}
    with pytest.raises(ValueError, match=r"\S"):
        decode(b"\x08")


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("order.proto", 'invalid value "protobuf:order.proto" for --decode: use protobuf:FILE#TYPE'),
        ("none.proto#Order", 'cannot read "none.proto": No such file'),
        ("order.proto#Oder", 'has no message type "Oder": did you mean'),
        ("order.proto#Line", 'several types are named "Line": use shop.Order.Line or shop.Refund.Line'),
        ("bad.proto#Order", 'cannot compile "bad.proto": bad.proto:1:1: '),
        ("garbage.binpb#Order", '"garbage.binpb" is not a complete descriptor set: '),
    ],
)
def test_a_place_that_cannot_be_used(
    order_file: Path, place: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(order_file.parent)
    Path("bad.proto").write_text("nonsense")
    Path("garbage.binpb").write_bytes(b"\xff\xff")
    with pytest.raises(UsageError) as raised:
        load_protobuf_decoder(place)
    assert error in str(raised.value)


def test_libraries_that_are_missing_are_named(order_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_decoder, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UsageError, match=r"package grpcio-tools is missing: .*, or pass a descriptor set"):
        load_protobuf_decoder(f"{order_file}#Order")
    monkeypatch.setitem(sys.modules, "google.protobuf.descriptor_pb2", None)
    with pytest.raises(UsageError, match=r"Python package protobuf is missing: run .* 'protobuf>="):
        load_protobuf_decoder(f"{order_file}#Order")
