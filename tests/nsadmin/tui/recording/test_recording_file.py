"""Polls in a file: what was kept is what is loaded, also of who was killed."""

from pathlib import Path

import pytest
import zstandard

from nsadmin.tui.messages.message_query import query_topic
from nsadmin.tui.polling.poll_records import BrokerPolled, MessagesPolled, NameServerPolled, encode_poll
from nsadmin.tui.recording.recording_file import InvalidRecordingError, PollRecorder, Recording
from tests.support.bounded_process import run_bounded
from tests.support.screens import (
    NOON,
    make_broker_poll,
    make_browsed_message,
    make_server_poll,
    make_silent_broker,
)

HEAD = b'{"format":"nsadmin-recording","version":1,"label":"","addrs":[]}\n'


def recorded(file: Path) -> Path:
    recorder = PollRecorder(file, "prod", ["10.0.0.1:9876"])
    recorder.record_polls([make_server_poll(), make_broker_poll("10.0.1.1:10911")])
    recorder.record_polls([make_server_poll(at=NOON + 1000)])
    recorder.record_polls(
        [
            make_server_poll(at=NOON + 2000, topics=("orders",)),
            NameServerPolled(NOON + 3000, "10.0.0.1:9876", error="x"),
        ]
    )
    recorder.close()
    return file


def test_what_was_kept_is_loaded_with_its_times(tmp_path: Path) -> None:
    tape = Recording(recorded(tmp_path / "r.zst"))
    assert (tape.head.label, list(tape.head.addrs)) == ("prod", ["10.0.0.1:9876"])
    assert (tape.begin, tape.end) == (NOON, NOON + 3000)
    assert [poll.at - NOON for poll in tape.start(NOON)] == [0, 0, 1000, 2000, 3000]


def test_messages_are_not_recorded(tmp_path: Path) -> None:
    recorder = PollRecorder(tmp_path / "r.zst", "prod", ["10.0.0.1:9876"])
    recorder.record_polls(
        [
            MessagesPolled(NOON, query_topic("orders"), 1, (make_browsed_message(b"secret"),)),
            make_server_poll(),
        ]
    )
    recorder.close()
    assert [type(poll) for poll in Recording(tmp_path / "r.zst").start(NOON)] == [NameServerPolled]


def test_what_a_name_server_tells_again_is_not_written_again(tmp_path: Path) -> None:
    polls = Recording(recorded(tmp_path / "r.zst")).start(NOON)
    topics = [poll.topics for poll in polls if isinstance(poll, NameServerPolled)]
    assert topics == [["orders", "payments"], None, ["orders"], None]


def test_a_recording_whose_end_is_missing_is_played_up_to_there(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "r.zst").read_bytes()
    cut = tmp_path / "cut.zst"
    cut.write_bytes(whole[: len(whole) - 20])
    tape = Recording(cut)
    assert 1 <= len(list(tape.start(NOON))) <= 5
    assert tape.end <= NOON + 3000


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"hello", "not compressed"),
        (zstandard.compress(b"hello\n"), "not a recording of nsadmin tui"),
        (zstandard.compress(HEAD.replace(b"1", b"9")), "of version 9"),
        (zstandard.compress(HEAD), "the file is empty"),
    ],
)  # fmt: skip
def test_what_is_no_recording(data: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "other.zst"
    file.write_bytes(data)
    with pytest.raises(InvalidRecordingError, match=why):
        Recording(file)


def test_a_late_moment_is_led_to_by_the_last_figures_alone(tmp_path: Path) -> None:
    up, frozen, minute = "10.0.1.1:10911", "10.0.1.2:10911", 60_000
    recorder = PollRecorder(tmp_path / "r.zst", "prod", [])
    recorder.record_polls([make_server_poll(), *(make_broker_poll(frozen, NOON + at) for at in range(3))])
    for at in range(30):
        recorder.record_polls(
            [make_broker_poll(up, NOON + at * minute), make_silent_broker(frozen, NOON + at * minute + 1)]
        )
    recorder.close()
    tape = Recording(tmp_path / "r.zst")
    polls = [poll for poll in tape.start(NOON + 29 * minute) if isinstance(poll, BrokerPolled)]
    assert [(poll.at - NOON) // minute for poll in polls if poll.addr == up] == list(range(18, 30))
    assert [poll.table is None for poll in polls if poll.addr == frozen] == [False, *[True] * 30]
    beyond = [poll for poll in tape.start(NOON + 60 * minute) if isinstance(poll, BrokerPolled)]
    assert [poll.at - NOON for poll in beyond if poll.addr == up] == [29 * minute]


def test_a_disk_that_fails_is_told_and_holds_up_nobody(tmp_path: Path) -> None:
    recorder = PollRecorder(Path("/dev/full"), "prod", [])
    messages: list[OSError] = []
    recorder.report_failure = messages.append
    recorder.record_polls([make_server_poll()])
    recorder.close()
    assert len(messages) == 1


def test_a_file_that_cannot_be_written_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        PollRecorder(tmp_path / "none" / "r.zst", "prod", [])


def test_a_line_without_an_end_is_no_recording(tmp_path: Path) -> None:
    compressor = zstandard.ZstdCompressor().compressobj()
    with (tmp_path / "r.zst").open("wb") as file:
        file.write(compressor.compress(HEAD + b'{"at":1}\n'))
        for _ in range(1024):
            file.write(compressor.compress(bytes(1 << 20)))
        file.write(compressor.flush())
    program = """
from pathlib import Path
from nsadmin.tui.recording.recording_file import InvalidRecordingError, Recording
try:
    Recording(Path(sys.argv[1]))
except InvalidRecordingError as error:
    print(error)
"""
    output = run_bounded(program, str(tmp_path / "r.zst"))
    assert output.strip() == "a line has more than 67108864 bytes"


def test_polls_of_other_values_are_left_out(tmp_path: Path) -> None:
    lines = [HEAD, b'{"at":1}\n', b'{"poll":"server","at":2,"groups":5}\n', b'{"poll":"no","at":3}\n']
    lines += [encode_poll(make_server_poll()), b'{"at":9,"x":' + b"[" * 100_000 + b"\n"]
    (tmp_path / "r.zst").write_bytes(zstandard.compress(b"".join(lines)))
    tape = Recording(tmp_path / "r.zst")
    assert [poll.at for poll in tape.start(0)] == [NOON]
