"""Values of options, good and bad."""

from collections.abc import Callable

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.command_line import argument_values
from nsadmin.console.exit_codes import UsageError
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.topic_brokers import TopicBroker


def test_good_ones() -> None:
    assert [argument_values.parse_boolean("-o", text) for text in (None, "true", "FALSE ")] == [
        None,
        True,
        False,
    ]
    assert [argument_values.validate_perm(value) for value in (None, 2, 6)] == [None, 2, 6]
    assert argument_values.parse_perm("4") == 4
    assert [argument_values.validate_queue_count("-r", value) for value in (None, 0, 8)] == [None, 0, 8]
    assert [argument_values.validate_interval(value) for value in (None, 0.5)] == [None, 0.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: argument_values.parse_boolean("-o", "yes"),
        lambda: argument_values.validate_perm(8),
        lambda: argument_values.parse_perm("rw"),
        lambda: argument_values.parse_perm("9"),
        lambda: argument_values.validate_queue_count("-r", -1),
        lambda: argument_values.validate_interval(0),
        lambda: argument_values.validate_interval(float("nan")),
    ],
)
def test_bad_ones(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match=r'^invalid (value|permission) ".*" for -[a-z]: (expected|use) '):
        call()


def test_words_of_a_choice() -> None:
    assert argument_values.parse_choice("-t", None, ("Super", "Normal")) is None
    assert argument_values.parse_choice("-t", " super", ("Super", "Normal")) == "Super"
    with pytest.raises(UsageError, match='invalid value "odd" for -t: expected A, B or C'):
        argument_values.parse_choice("-t", "odd", ("A", "B", "C"))


def test_names_of_a_list() -> None:
    assert argument_values.parse_name_list("-u", None) == []
    assert argument_values.parse_name_list("-u", "b, a,b") == ["b", "a"]
    with pytest.raises(
        UsageError, match='invalid list "a," for -u: write names separated by commas, such as A,B'
    ):
        argument_values.parse_name_list("-u", "a,")


@pytest.mark.parametrize("name", ["orders", "%RETRY%g", "a_b-C|1", "x" * 127, "%DLQ%" + "x" * 250])
def test_names_that_brokers_take(name: str) -> None:
    assert argument_values.validate_topic_name(name) == name


@pytest.mark.parametrize("name", ["", "a b", "*", "a\nb", "a\n", "é", "x" * 128, "%DLQ%" + "x" * 251])
def test_names_that_no_broker_takes(name: str) -> None:
    with pytest.raises(
        UsageError, match=r'^invalid topic name ".*": use letters, digits and % \| _ -, at most'
    ):
        argument_values.validate_topic_name(name)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("updateTopic", "pay ments", "-b", "broker-a"), 'topic name "pay ments": use letters'),
        (("updateSubGroup", "my group", "-b", "broker-a"), 'group name "my group": use letters'),
        (
            ("updateTopic", "a,b", "-b", "broker-a"),
            'topic name "a,b": this command takes one topic; for several, write a file for '
            "nsadmin updateTopicList FILE",
        ),
        (
            ("updateSubGroup", "a,b", "-b", "broker-a"),
            'group name "a,b": this command takes one group; for several, write a file for '
            "nsadmin updateSubGroupList FILE",
        ),
        (
            ("updateBrokerConfig", "file ReservedTime", "9", "-b", "broker-a"),
            'setting "file Reserved',
        ),
        (("updateNamesrvConfig", "listen Port", "9"), 'setting "listen Port": a key has no blanks'),
        (("updateControllerConfig", "my key", "9", "-a", "h:1"), 'setting "my key": a key has no blanks'),
    ],
)
def test_a_name_that_no_server_takes_is_one_wrong_command_line(
    run: Run, words: tuple[str, ...], problem: str
) -> None:
    with TopicBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as server:
        broker.handlers[RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG] = lambda asked: answer_json(
            asked, {"subscriptionGroupTable": {}}
        )
        for flag in ("--dry-run", "--yes"):
            result = run(*words, flag, "-n", server.addr)
            assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
            assert result.err.startswith(f"nsadmin: invalid {problem}")


@pytest.mark.parametrize("name", ["klingon", "base64", "hex"])
def test_an_encoding_that_is_none_of_text(name: str) -> None:
    with pytest.raises(
        UsageError, match=f'unknown encoding "{name}" for -f: use utf-8, gbk, latin-1 or another one'
    ):
        argument_values.parse_charset("-f", name)


def test_encodings_have_one_name() -> None:
    assert (argument_values.parse_charset("-f", None), argument_values.parse_charset("-f", "GBK")) == (
        "utf-8",
        "gbk",
    )


def test_numbers_from_0_and_what_is_none() -> None:
    assert [argument_values.parse_number("QUEUE", text) for text in ("0", "0" * 17 + "7")] == [0, 7]
    for text in ("", "-1", "1.5", "x", "²", "٣", "1" * 19):
        with pytest.raises(
            UsageError, match=f'invalid value "{text}" for QUEUE: expected a whole number from 0'
        ):
            argument_values.parse_number("QUEUE", text)
