"""JSON files in which procedures keep their state. A file survives a kill at any moment."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from namesrv_core import operator_files, private_files
from namesrv_core.storage import atomic_write
from nsadmin.operations.drain.state import InvalidStateError, RecordType


def read_state_file(state_file: Path, parse: Callable[[Any], RecordType]) -> RecordType | None:
    """Return the record in a file; None without a file. Raises InvalidStateError, which names the file."""
    try:
        file_text = operator_files.read_bytes(state_file).decode("utf-8", "surrogatepass")
        return parse(operator_files.parse_json(file_text))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidStateError(f"cannot read {state_file}: {error.strerror}") from None
    except ValueError as error:
        problem = f"{state_file} is not JSON: {error}"
    except InvalidStateError as error:
        problem = f"{state_file}: {error}"
    raise InvalidStateError(f"{problem}: restore the file, or move it away")


def write_state_file(state_file: Path, json_value: object) -> None:
    """Replace a file by a JSON value. Names of topics may have lone surrogates."""
    json_text = json.dumps(json_value, ensure_ascii=False, separators=(",", ":"))
    atomic_write.replace_file(state_file, json_text.encode("utf-8", "surrogatepass"))


def append_event_record(events_file: Path, event_record: Mapping[str, Any]) -> None:
    """Append an event to the file of a procedure's events. Raises OSError."""
    event_line = json.dumps(event_record, ensure_ascii=False) + "\n"
    private_files.append_record(events_file, event_line.encode("utf-8", "backslashreplace"))
