"""Decodes Protobuf messages with the types of a .proto file or of a descriptor set."""

import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.client.extras import describe_missing
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.python_process import build_command, build_environment

_COMPILE_TIMEOUT_SECONDS = 60


def load_protobuf_decoder(place_text: str) -> Callable[[bytes], Any]:
    """Return a function from a body to a JSON value. `place_text` is FILE#TYPE.

    The function raises ValueError for a body that it cannot decode.
    """
    file_name, _, type_name = place_text.rpartition("#")
    if not (file_name and type_name):
        raise UsageError(f'invalid value "protobuf:{place_text}" for --decode: use protobuf:FILE#TYPE')
    try:
        library = import_module("google.protobuf.descriptor_pb2")
        factory = import_module("google.protobuf.message_factory")
        json_format = import_module("google.protobuf.json_format")
        pool = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    except ImportError:
        raise UsageError(describe_missing("protobuf", "decoders")) from None
    descriptor_set = library.FileDescriptorSet()
    try:
        descriptor_set.ParseFromString(_read_descriptors(file_name))
        for file_descriptor in descriptor_set.file:
            pool.Add(file_descriptor)
    except UsageError:
        raise
    except Exception as error:
        # DecodeError, and TypeError for a set without the files that it imports.
        raise UsageError(
            f'--decode protobuf: "{file_name}" is not a complete descriptor set: {error}'
        ) from None
    message_class = factory.GetMessageClass(
        pool.FindMessageTypeByName(_find_type(descriptor_set, file_name, type_name))
    )

    def decode_protobuf(body: bytes) -> Any:
        try:
            message = message_class.FromString(body)
            return json_format.MessageToDict(message, descriptor_pool=pool)
        except Exception as error:
            # DecodeError of each implementation of the library; TypeError for an Any of an unknown type.
            raise ValueError(str(error) or type(error).__name__) from None

    return decode_protobuf


def _read_descriptors(file_name: str) -> bytes:
    """The descriptor set of a file; a .proto file is compiled."""
    file_path = Path(file_name)
    try:
        content = file_path.read_bytes()
    except OSError as error:
        raise UsageError(f'--decode protobuf: cannot read "{file_name}": {error.strerror}') from None
    if file_path.suffix != ".proto":
        return content
    with TemporaryDirectory(prefix="nsadmin-protobuf-") as folder_name:
        output_path = Path(folder_name, "descriptors")
        finished_process = subprocess.run(
            [
                *_find_compiler(),
                f"--proto_path={file_path.parent}",
                "--include_imports",
                f"--descriptor_set_out={output_path}",
                str(file_path),
            ],
            capture_output=True,
            text=True,
            env=build_environment(),
            timeout=_COMPILE_TIMEOUT_SECONDS,
        )
        if finished_process.returncode == 0:
            return output_path.read_bytes()
    # Messages of a logging library come first.
    lines = [
        line for line in finished_process.stderr.splitlines() if ".proto:" in line
    ] or finished_process.stderr.splitlines()
    reason = lines[0] if lines else f"protoc ended with {finished_process.returncode}"
    raise UsageError(f'--decode protobuf: cannot compile "{file_name}": {reason}')


def _find_compiler() -> list[str]:
    """The command line of protoc: of the Python package, else the one on PATH."""
    if find_spec("grpc_tools") is not None:
        return [*build_command("grpc_tools.protoc"), f"--proto_path={files('grpc_tools') / '_proto'}"]
    compiler = shutil.which("protoc")
    if compiler is None:
        missing_text = describe_missing("grpcio-tools", "decoders")
        raise UsageError(f"{missing_text}, or pass a descriptor set instead of a .proto file")
    return [compiler]


def _find_type(descriptor_set: Any, file_name: str, type_name: str) -> str:
    """The full name of a message type. Its last part is enough if only one type has it."""
    full_names = [
        full_name
        for file_descriptor in descriptor_set.file
        for full_name in _list_types(file_descriptor.package, file_descriptor.message_type)
    ]
    matching_names = [name for name in full_names if name == type_name] or [
        name for name in full_names if name.endswith(f".{type_name}")
    ]
    if len(matching_names) == 1:
        return matching_names[0]
    if matching_names:
        raise UsageError(
            f'--decode protobuf: several types are named "{type_name}": use {" or ".join(matching_names)}'
        )
    near_names = find_similar_names(type_name, full_names) or sorted(full_names)[:3]
    raise UsageError(
        f'--decode protobuf: "{file_name}" has no message type "{type_name}": {did_you_mean(near_names)}'
    )


def _list_types(scope: str, descriptors: Any) -> list[str]:
    full_names = []
    for descriptor in descriptors:
        full_name = f"{scope}.{descriptor.name}" if scope else descriptor.name
        full_names += [full_name, *_list_types(full_name, descriptor.nested_type)]
    return full_names
