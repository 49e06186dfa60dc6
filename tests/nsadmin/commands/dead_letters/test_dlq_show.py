"""dlq show: dead letters as rows and as a file."""

import json
from pathlib import Path

import pytest

from nsadmin.commands.dead_letters import dlq_show
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DeadLetterBroker


def test_a_dead_letter_has_its_origin_and_its_body(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one", KEYS="k1 k2", TAGS="A", NSADMIN_REPLAYS="2")
    dead_letter_broker.add_letter(b"\xff\xfe", origin=None)
    result = dlq("show", "G")
    assert (result.code, result.err) == (0, "")
    first, second = result.json
    assert (first["originTopic"], first["originMsgId"], first["keys"], first["tags"]) == (
        "T", "origin of one", ["k1", "k2"], "A",
    )  # fmt: skip
    assert (first["replays"], first["body"], first["bodyEncoding"]) == (2, "one", "utf-8")
    assert first["ageMs"] > 0
    assert (second["originTopic"], second["body"], second["bodyEncoding"]) == (None, "//4=", "base64")


def test_bodies_are_decoded_but_not_in_a_file(
    dlq: Run, dead_letter_broker: DeadLetterBroker, tmp_path: Path
) -> None:
    dead_letter_broker.add_letter(b'{"a": 1}')
    dead_letter_broker.add_letter(b"plain", UNIQ_KEY="ID")
    result = dlq("show", "G", "--decode", "json")
    assert [row["body"] for row in result.json] == [{"a": 1}, "plain"]
    assert (result.code, result.err.startswith("nsadmin: body of ID: not json: ")) == (0, True)
    result = dlq("show", "G", "--decode", "json", "--out", str(tmp_path / "file"))
    assert (result.code, "--decode and --out exclude each other" in result.err) == (2, True)


def test_options_select_dead_letters(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    for number in range(6):
        dead_letter_broker.add_letter(
            b"body %d" % number, origin="TU"[number % 2], KEYS=f"k{number}", TAGS="AB"[number // 3]
        )

    def shown(*words: str) -> list[str]:
        return [row["body"][-1] for row in dlq("show", "G", *words).json]

    assert shown("--origin", "U") == ["1", "3", "5"]
    assert shown("--key", "k0", "--key", "k4") == ["0", "4"]
    assert shown("--tag", "B") == ["3", "4", "5"]
    assert shown("--body", "[12]$") == ["1", "2"]
    assert shown("--since", "2023-11-14T22:13:24Z") == ["4", "5"]
    assert shown("--until", "2023-11-14T22:13:21Z") == ["0", "1"]
    ids = [row["offsetMsgId"] for row in dlq("show", "G").json]
    assert shown("--id", ids[2], "--id", ids[5].lower()) == ["2", "5"]


def test_a_limit_says_that_there_are_more(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    for number in range(130):
        dead_letter_broker.add_letter(b"%d" % number)
    result = dlq("show", "G", "--limit", "2")
    assert len(result.json) == 2
    assert result.err == "nsadmin: stopped after 2 messages: pass --limit N or --out FILE for more\n"
    assert len(dlq("show", "G").json) == 128
    assert dlq("show", "G", "--limit", "130").err == ""


def test_an_export_has_all_of_them(dlq: Run, dead_letter_broker: DeadLetterBroker, tmp_path: Path) -> None:
    for number in range(200):
        dead_letter_broker.add_letter(b"%d" % number)
    file = tmp_path / "dead.jsonl"
    result = dlq("show", "G", "--out", str(file))
    assert result.json == [{"file": str(file), "messageCount": 200}]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["body"] for line in lines] == [str(number) for number in range(200)]
    assert file.stat().st_mode & 0o077 == 0
    assert list(tmp_path.glob(".dead*")) == []
    result = dlq("show", "G", "--out", str(tmp_path / "missing" / "dead.jsonl"))
    assert (result.code, 'missing/dead.jsonl": No such file' in result.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("other",), 5, "no dead letters for other"),
        (("G", "--body", "("), 2, 'invalid regular expression "(" for --body'),
        (("G", "--limit", "0"), 2, 'invalid number "0" for --limit: use 1 or more'),
        (
            ("G", "--since", "soon"),
            2,
            'invalid time "soon" for --from: use 1h, 14:03, yesterday, or 2026-11-23T14:03Z',
        ),
    ],
)
def test_what_cannot_be_shown(dlq: Run, words: tuple[str, ...], code: int, text: str) -> None:
    result = dlq("show", *words)
    assert (result.code, result.out, text in result.err) == (code, "", True), result.err


def test_long_dead_letters_end_a_list(
    dlq: Run, dead_letter_broker: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dlq_show, "MAX_KEPT_BYTES", 50)
    for _ in range(5):
        dead_letter_broker.add_letter(b"x" * 20)
    result = dlq("show", "G")
    assert (result.code, len(result.json)) == (0, 3)
    assert result.err == (
        "nsadmin: stopped after 3 messages, which have long bodies: pass --limit N or --out FILE for more\n"
    )
