"""dumpCompactionLog."""

import os
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.messages import encode_message

TWO = encode_message(b"100% of a", table={"TAGS": "A"}) + encode_message(b"b", queue_offset=1)
FULL = bytes([0, 0, 0, 40]) + bytes.fromhex("cbd43194") + b"rest of the message before"


@pytest.mark.parametrize("rest", [b"", bytes(100), FULL])
def test_the_messages_of_a_file(run: Run, tmp_path: Path, rest: bytes) -> None:
    file = tmp_path / "00000000000000000000"
    file.write_bytes(TWO + rest)
    # A broker's files belong to the broker.
    file.chmod(0o400)
    result = run("dumpCompactionLog", "-f", str(file), "--json")
    assert (result.code, result.err) == (0, "")
    assert [(row["body"], row["tags"], row["queueOffset"]) for row in result.json] == [
        ("100% of a", "A", 0),
        ("b", None, 1),
    ]
    assert os.stat(file).st_size == len(TWO + rest)


def test_what_is_no_message_is_told_with_its_place(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "damaged"
    file.write_bytes(TWO + b"nonsense" + bytes(10))
    result = run("dumpCompactionLog", str(file), "--json")
    assert (result.code, len(result.json)) == (1, 2)
    assert f"the bytes from {len(TWO)} on, after 2 messages, are not a message" in result.err
    assert run("dumpCompactionLog", str(tmp_path / "nothing")).code == 2
