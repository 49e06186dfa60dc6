"""The manual against the real thing: mqadmin's own list of commands, and the examples that need messages."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from nsadmin.commands.mqadmin.known_commands import KNOWN_COMMANDS
from tests.interop import jars, lite
from tests.interop.cluster import create_topic, wait_for_broker, wait_for_topic
from tests.interop.java_parts import JavaBroker, mqadmin
from tests.interop.our_server import ROOT, OurNameServer
from tests.interop.processes import wait_for
from tests.support.examples import ON_BROKERS, ExampleCase, split_example
from tests.support.name_servers import ServerProgram

OFFSET_ID, UNIQUE_ID = "7F00000100002A9F0000000000000000", "7F0000010B4B18B4AAC2910F8A1E0000"
"""The ids in examples; those of the first message stand in for them."""


class Broker(NamedTuple):
    """A real broker with a message, and what stands in for the ids in examples."""

    namesrv_addr: str
    stand_in: dict[str, str]

    def __call__(self, line: list[str]) -> subprocess.CompletedProcess[str]:
        args = ["-n", self.namesrv_addr, *(self.stand_in.get(word, word) for word in line)]
        program = "import sys; from nsadmin.app import main; sys.exit(main())"
        command = [sys.executable, "-c", program, *args]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=ServerProgram.make_environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture(scope="module")
def broker(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    home = tmp_path_factory.mktemp("manual")
    with (
        OurNameServer(home / "ns") as server,
        JavaBroker(
            home / "broker",
            [server.address],
            "broker-a-0",
            "cluster-a",
            config={"traceTopicEnable": "true", **lite.CONFIG},
        ) as java,
    ):
        wait_for_broker([server], "broker-a-0")
        create_topic(java.port, "payments")
        wait_for_topic([server], "payments")
        there = Broker(server.address, {})
        line = "sendMessage payments 'a test' -k order-4711 -c settled -b broker-a-0 -i 0 -m true --yes"
        sent = there([*shlex.split(line), "--output", "tsv", "--no-headers"])
        assert sent.returncode == 0, sent.stderr
        unique_id, offset_id = sent.stdout.split("\t")[4:6]
        there.stand_in.update({UNIQUE_ID: unique_id, OFFSET_ID: offset_id})
        # Brokers build their indexes a moment later, that of the trace too.
        for search in (["queryMsgByKey", "payments", "order-4711"], ["queryMsgTraceById", unique_id]):
            wait_for(search[0], partial(answers, there, search))
        lite.create(java.port, "chats", "readers")
        lite.send(java.port, "chats", "room-1")
        lite.commit(java.port, "chats", "room-1", "readers", 0)
        wait_for_topic([server], "chats")
        with lite.client(java.port, "chats", "readers", "client-1", ["room-1"]):
            yield there


def answers(broker: Broker, line: list[str]) -> bool:
    return broker(line).returncode == 0


@pytest.mark.parametrize("case", ON_BROKERS, ids=lambda case: case.entry.name)
def test_the_examples_that_need_messages_do_what_they_say(broker: Broker, case: ExampleCase) -> None:
    for example in case.examples:
        result = broker(split_example(example))
        assert result.returncode == example.exit_code, (example.command_line, result.stderr)
        if "--output value" in example.command_line:
            assert result.stdout == "a test\n", example.command_line
        else:
            assert example.exit_code or len(result.stdout.splitlines()) >= 2, example.command_line


@pytest.mark.parametrize("version", [jars.NEWEST, jars.OLD])
def test_the_map_has_every_command_of_the_released_mqadmin(
    released: None, tmp_path: Path, version: str
) -> None:
    mqadmin_output = mqadmin([], ["127.0.0.1:1"], tmp_path, version)
    theirs = set(re.findall(r"^   (\w+) +\S", mqadmin_output, re.M))
    gone = {item.name for item in KNOWN_COMMANDS if "to" in item.since_release}
    if version == jars.NEWEST:
        assert theirs == {item.name for item in KNOWN_COMMANDS} - gone
    else:
        assert gone < theirs
        # What 5.x brought is not there, all else is.
        assert theirs == {item.name for item in KNOWN_COMMANDS if item.since_release.startswith("4.")}
