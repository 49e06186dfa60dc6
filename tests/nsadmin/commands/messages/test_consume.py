"""consume: which messages are printed, how, and when it ends."""

import gzip
import json

import pytest

from nsadmin.client.messages.topic_follower import TopicFollower
from nsadmin.commands.messages.consume import format_line
from nsadmin.commands.procedures.signals import StopRequestedError
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import refuse_with


@pytest.fixture
def filled_store(store: DeadLetterBroker) -> DeadLetterBroker:
    for number in range(6):
        text = json.dumps({"order": {"id": number}})
        store.store_message(
            text.encode(), "T", number % 2, 0, KEYS=f"k{number}", TAGS="AB"[number // 3], n=str(number)
        )
    return store


def numbers(out: str) -> list[int]:
    return sorted(json.loads(json.loads(line)["body"])["order"]["id"] for line in out.splitlines())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), [0, 1, 2, 3, 4, 5]),
        (("--tag", "B"), [3, 4, 5]),
        (("--key", "k1", "--key", "k4"), [1, 4]),
        (("--property", "n=2"), [2]),
        (("--body", "[01]}"), [0, 1]),
        (("--field", "order.id=5"), [5]),
        (("--from", "offset:2"), [4, 5]),
        (("--from", "latest"), []),
        (("--from", "2023-11-14T22:13:21Z"), [2, 3, 4, 5]),
        (("--until", "2023-11-14T22:13:20Z"), [0, 1]),
        (("-i", "1"), [1, 3, 5]),
    ],
)
def test_options_select_messages(
    stream: Run, filled_store: DeadLetterBroker, words: tuple[str, ...], expected: list[int]
) -> None:
    result = stream("consume", "T", "--output", "jsonl", *words)
    assert (result.code, result.err, numbers(result.out)) == (0, "", expected)


def test_no_offset_of_a_group_is_written_or_read(stream: Run, filled_store: DeadLetterBroker) -> None:
    assert stream("consume", "T").code == 0
    assert {*filled_store.asked_codes()} <= {11, 30, 31}
    pulls = [asked.ext or {} for asked in filled_store.asked if asked.code == 11]
    assert {(pull["consumerGroup"], pull["commitOffset"], pull["sysFlag"]) for pull in pulls} == {
        ("TOOLS_CONSUMER", "0", "4")
    }


def test_a_limit_ends_it(stream: Run, filled_store: DeadLetterBroker) -> None:
    assert len(stream("consume", "T", "--limit", "4", "--output", "jsonl").out.splitlines()) == 4


def test_messages_that_come_meanwhile_are_not_waited_for(
    stream: Run, filled_store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_pages = TopicFollower.read_pages

    def poll_and_store(follower: TopicFollower, *more: frozenset[tuple[str, int]]) -> object:
        filled_store.store_message(b'{"order": {"id": 99}}')
        return read_pages(follower, *more)

    monkeypatch.setattr(TopicFollower, "read_pages", poll_and_store)
    assert numbers(stream("consume", "T", "--output", "jsonl").out) == [0, 1, 2, 3, 4, 5]


def test_one_header_stands_above_all_pages(stream: Run, filled_store: DeadLetterBroker) -> None:
    filled_store.page = 1
    lines = stream("consume", "T", "--output", "csv", "--columns", "keys,tags").out.splitlines()
    assert lines[0] == "keys,tags"
    assert len(lines) == 7
    assert len(stream("consume", "T", "--json").json) == 6


def test_a_format_makes_lines(stream: Run, filled_store: DeadLetterBroker) -> None:
    result = stream(
        "consume", "T", "--format", "{keys}|{tags}|{properties.n}|{properties.none}|{x y}", "-i", "1"
    )
    assert result.out == "k1|A|1||{x y}\nk3|B|3||{x y}\nk5|B|5||{x y}\n"
    result = stream("consume", "T", "--format", "{key}")
    assert (result.code, 'unknown column "key" in --format' in result.err) == (2, True)
    assert format_line("{body} {flag}", {"body": "{flag}", "flag": 0}) == "{flag} 0"


def test_bodies_are_decoded(stream: Run, filled_store: DeadLetterBroker) -> None:
    rows = stream("consume", "T", "--decode", "json", "--json", "--limit", "1").json
    assert [(row["body"], row["bodyEncoding"]) for row in rows] == [({"order": {"id": 0}}, "json")]
    [row] = stream("consume", "T", "--decode", "gzip", "--json", "--key", "k0").json
    assert (row["bodyEncoding"], row["bodyError"].startswith("not gzip: ")) == ("utf-8", True)
    table = stream("consume", "T", "--decode", "gzip", "--key", "k0")
    assert (table.code, "not gzip: " in table.out, table.err) == (0, True, "")
    result = stream("consume", "T", "--decode", "xml")
    assert (result.code, 'invalid value "xml" for --decode' in result.err) == (2, True)


def test_conditions_see_decoded_bodies(stream: Run, filled_store: DeadLetterBroker) -> None:
    for number in range(2):
        filled_store.store_message(gzip.compress(b'{"n": %d}' % number), KEYS=f"packed{number}")
    for condition in (("--field", "n=1"), ("--body", '"n": 1')):
        rows = stream("consume", "T", "--decode", "gzip,json", *condition, "--json").json
        assert [(row["keys"], row["body"]) for row in rows] == [(["packed1"], {"n": 1})]


def stop_after(polls: int, monkeypatch: pytest.MonkeyPatch, store: DeadLetterBroker) -> None:
    """Ctrl-C after so many polls; a message comes before each."""
    read_pages, polled = TopicFollower.read_pages, list[int]()

    def poll_or_stop(follower: TopicFollower, *more: frozenset[tuple[str, int]]) -> object:
        polled.append(1)
        if len(polled) > polls:
            raise StopRequestedError
        pages = list(read_pages(follower, *more))
        store.store_message(b'{"order": {"id": %d}}' % (100 + len(polled)))
        return pages

    monkeypatch.setattr(TopicFollower, "read_pages", poll_or_stop)


def test_following_begins_at_the_end_and_ends_with_a_count(
    stream: Run, filled_store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after(3, monkeypatch, filled_store)
    result = stream("consume", "T", "--follow", "--output", "jsonl")
    assert (result.code, result.err, numbers(result.out)) == (0, "nsadmin: printed 2 messages\n", [101, 102])


def test_following_reports_a_broker_once_and_goes_on(
    stream: Run, filled_store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.commands.messages.consume._ERROR_PAUSE_SECONDS", 0.01)
    known = filled_store.handlers[11]
    failures = iter([True] * 16)
    filled_store.handlers[11] = lambda asked: (
        refuse_with(2, "busy")(asked) if next(failures, False) else known(asked)
    )
    stop_after(4, monkeypatch, filled_store)
    result = stream("consume", "T", "--follow", "--from", "earliest", "--output", "jsonl")
    assert (
        result.err
        == "nsadmin: broker broker-a: SYSTEM_BUSY (2): busy; trying again\nnsadmin: printed 9 messages\n"
    )
    assert result.code == 0


def test_a_broker_that_refuses_is_an_error(stream: Run, filled_store: DeadLetterBroker) -> None:
    filled_store.handlers[11] = refuse_with(
        1, "The broker does not support consumer to filter message by SQL92"
    )
    result = stream("consume", "T", "--sql", "n > 1", "--output", "jsonl")
    assert (
        result.code,
        result.out,
        "broker broker-a: SYSTEM_ERROR (1): The broker does not" in result.err,
    ) == (1, "", True)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--follow", "--json"), "--follow needs lines: pass --output jsonl instead of json"),
        (("--tag", "A", "--sql", "n > 1"), "--tag and --sql exclude each other"),
        (("--from", "offset:x"), 'invalid offset "x" in --from'),
        (
            ("--from", "soon"),
            'invalid time "soon" for --from: use 1h, 14:03, yesterday, or 2026-11-23T14:03Z',
        ),
        (("--field", "x"), 'invalid value "x" for --field: use NAME=VALUE'),
        (("--body", "("), 'invalid regular expression "(" for --body'),
    ],
)
def test_words_that_do_not_fit(
    stream: Run, store: DeadLetterBroker, words: tuple[str, ...], text: str
) -> None:
    result = stream("consume", "T", *words)
    assert (result.code, text in result.err) == (2, True), result.err
