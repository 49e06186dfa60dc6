"""Answers of a lab with one value replaced in each: no command ends with an internal error."""

import json
import random
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol import object_keys
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab

COMMANDS = """
clusterList
clusterList -m
brokerStatus broker-a-0
haStatus -c cluster-a
replicaDiff
getBrokerConfig broker-a-0
configDiff
getColdDataFlowCtrInfo broker-a-0
topicList
topicList --cluster cluster-a
topicRoute orders
topicStatus orders
statsAll
route explain orders
allocateMQ orders 10.0.0.1
consumerProgress
consumerProgress warehouse
consumerConnection warehouse
consumerStatus warehouse
consumerStatus warehouse --jstack
brokerConsumeStats broker-a-0
getConsumerConfig warehouse
getConsumeMode -c cluster-a
client list
producer broker-a-0
queryCq orders 0 0
where
divergence --settle 0
orderConfCheck
export cluster-a
backup create cluster-a --dir {folder}
bundle create {folder}/bundle.zip
whatIf --down broker-a-0
spread orders
spread
registrationSize
snapshot save {folder}/snapshot
collect {folder}/collected --once
discovery prometheus
exportConfigs cluster-a
exportMetadata cluster-a
exportMetrics cluster-a
check all --settle 0 -t orders -g warehouse
check clients --min-version 4.9.7
check replicas
check lag -g warehouse
check topic -t orders
startMonitoring --once
rebalance plan
delayed list orders
dlq list
dlq show warehouse
consume orders --limit 2
proxy list
orphans
repair wipe broker-a-0 --dry-run
deleteTopic orders cluster-a --dry-run
deleteSubGroup warehouse -c cluster-a --dry-run
resetOffsetByTime warehouse orders now --dry-run
drain broker-a-0 --dry-run
""".strip().splitlines()

HOSTILE_VALUES: tuple[Any, ...] = (
    *("12", "word", "", "NaN", "Infinity", "-Infinity", "9" * 401, ":30971", "x", ":", "\ud800"),
    *(1.5, 1e308, -1, 2**31, 2**63, int("9" * 401), None, True, [], {}, [6], [None], {"0": {}}),
)
SEEDS = 3


def list_places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Each value inside of a JSON value, by its path."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from list_places(item, (*path, key))


def mutate(command: RemotingCommand, seed: str) -> RemotingCommand:
    """Replace one value of the JSON body, or of the header fields of an answer without one."""
    if command.ext and not command.body:
        hostile = copy(command)
        choice = random.Random(seed)
        hostile.ext = {**command.ext, choice.choice(list(command.ext)): str(choice.choice(HOSTILE_VALUES))}
        return hostile
    try:
        value = object_keys.decode_object_keys(command.body)
    except ValueError:
        return command
    places = list(list_places(value))
    if not places:
        return command
    choice = random.Random(seed)
    *path, last = choice.choice(places)
    target = value
    for key in path:
        target = target[key]
    target[last] = choice.choice(HOSTILE_VALUES)
    hostile = copy(command)
    hostile.body = json.dumps(value).encode()
    return hostile


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), FleetPlan(1, 2, 2, 6), name_servers=2) as running:
        yield running


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_ends_with_an_internal_error(
    line: str, run: Run, lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    send_calls: Callable[..., list[Any]] = Caller._send_calls
    # In half of the runs, one name server and one master answer well.
    good_addrs = {lab.namesrv_addrs[0], lab.brokers["broker-a-1", 0]}
    seed = 0

    def send_and_mutate(caller: Caller, calls: list[tuple[str, RemotingCommand]], *more: Any) -> list[Any]:
        return [
            mutate(answer, f"{seed} {addr} {command.code}")
            if isinstance(answer, RemotingCommand) and (seed % 2 or addr not in good_addrs)
            else answer
            for (addr, command), answer in zip(calls, send_calls(caller, calls, *more), strict=True)
        ]

    monkeypatch.setattr(Caller, "_send_calls", send_and_mutate)
    for seed in range(SEEDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        result = run(*line.format(folder=folder).split(), "-n", lab.namesrv_addr, "--debug")
        assert "run the command again with --debug" not in result.err, f"seed {seed}: {result.err[-3000:]}"
