"""What an error means, found by its code, its name or a line of a log."""

import pytest

from namesrv_core.errors import ResponseCode
from nsadmin.command_line import registry
from nsadmin.console.error_meanings import ERROR_MEANINGS, find_meanings
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import closed_port


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("14", "SERVICE_NOT_AVAILABLE"),
        # SendMessageProcessor answers SYSTEM_ERROR to CREATE_MAPPED_FILE_FAILED.
        ("create mapped file failed, server is busy or broken.", "SYSTEM_ERROR"),
        ("SUBSCRIPTION_NOT_LATEST", "SUBSCRIPTION_NOT_LATEST"),
        ("MQClientException: No route info of this topic: orders", "TOPIC_NOT_EXIST"),
        ("CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while", "SYSTEM_BUSY"),
        ("RemotingConnectException: connect to 10.0.0.1:10911 failed", "RemotingConnectException"),
        ("sendDefaultImpl call timeout", "RemotingTimeoutException"),
        ("The consumer group[a] has been created before, specify another", "group created before"),
        ("10004", "NoNameServerException"),
        ("BROKER_BUSY", "SYSTEM_BUSY"),
        ("MQClientException", "MQClientException"),
        ("MQBrokerException", "MQBrokerException"),
        ("org.apache.rocketmq.client.exception.MQBrokerException", "MQBrokerException"),
    ],
)  # fmt: skip
def test_an_error_is_found(text: str, name: str) -> None:
    assert find_meanings(text)[0].name == name


def test_a_line_of_a_log_needs_no_quotes(run: Run) -> None:
    assert run("errors", "broker", "busy", "--json").json[0]["name"] == "SYSTEM_BUSY"


def test_a_broker_that_stores_nothing_has_causes_that_can_be_checked() -> None:
    # DefaultMessageStore.checkStoreStatus: shut down, a slave, or a flag of RunningFlags.
    [meaning] = find_meanings("14")
    assert meaning.causes == (
        "its disk is full, it is a slave, it starts or stops, or it failed to write a file of its store "
        "(see its store.log)"
    )


def test_an_unknown_one_is_not_guessed() -> None:
    assert find_meanings("9999") == find_meanings("quite another text") == []


def test_each_code_is_that_of_the_protocol_and_each_command_exists() -> None:
    names = {code.value: code.name for code in ResponseCode}
    for meaning in ERROR_MEANINGS:
        if meaning.code is not None and meaning.code < 10_000:
            assert names[meaning.code] == meaning.name
        words = meaning.command.split()
        typed = {entry.typed_name for entry in registry.COMMANDS}
        assert words[0] == "nsadmin"
        assert words[1] in typed or " ".join(words[1:3]) in typed, meaning.command


def test_each_command_can_be_typed(run: Run) -> None:
    dead_addr = f"127.0.0.1:{closed_port()}"
    for line in sorted({meaning.command for meaning in ERROR_MEANINGS}):
        words = line.replace("ADDR", dead_addr).split()[1:]
        result = run(*words, "-n", dead_addr)
        # No server answers, but the command line is complete.
        assert result.code in (3, 4) or result.out.startswith(("CRITICAL", "UNKNOWN")), (line, result.err)
