"""What an ideal observer concludes of truth.jsonl: when who was away, and what was told of it.

The truth has deadlines, not moments: a loss is `sure` from the latest moment at which it had to be seen to
the earliest one at which it may have been over, and `possible` for as long as it may have lasted.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from namesrv_core.lab import scenario_reader, truth_log, virtual_time
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.scenario_player import play_scenario
from namesrv_core.lab.truth_log import Deed, ExpectedEvent
from nsreport.sources.input_files import decompress_file

Span = tuple[float, float]


class ObservedCase(NamedTuple):
    """An expectation of one deed, of one server and one broker ("" where it names none); `due` is in ms."""

    deed: Deed
    expected: ExpectedEvent
    server: str
    broker: str

    @property
    def due(self) -> float:
        return self.deed.time_ms + self.expected.within_seconds * 1000


class Loss(NamedTuple):
    """A broker was away from a name server: spans in ms. `sure` may be empty (its end before its begin)."""

    scenario: str
    deed: Deed
    server: str
    broker: str
    sure: Span
    possible: Span
    is_sure: bool


class Play(NamedTuple):
    """A scenario that was played, its deeds, and its name servers' records, by the clock of the truth."""

    name: str
    deeds: list[Deed]
    lines: list[str]

    @property
    def address(self) -> str:
        """What takes the place of the machine's, so that no two scenarios have the same brokers."""
        return f"127.0.1.{scenario_reader.list_scenario_names().index(self.name)}"

    @property
    def end(self) -> int:
        return next(deed.time_ms for deed in self.deeds if (deed.fault, deed.phase) == ("run", "end"))

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(self.deeds[0].details["namesrvs"])

    def cases(self, *types: str) -> list[ObservedCase]:
        return [
            ObservedCase(deed, expected, server, broker)
            for deed in self.deeds
            for expected in deed.expected
            if set(types) & set(expected.types)
            for server in expected.server_names
            for broker in expected.broker_id_texts or ("",)
        ]

    def ended(self, deed: Deed) -> float:
        """When what was done was undone."""
        same = [
            other.time_ms
            for other in self.deeds
            if other.phase == "end"
            and other.fault == deed.fault
            and other.target_names == deed.target_names
            and other.time_ms >= deed.time_ms
        ]
        return min(same, default=self.end)

    def losses(self) -> Iterator[Loss]:
        """All that name servers had to, or might, miss brokers for."""
        returns = [case for case in self.cases("BrokerRegistered") if len(case.expected.types) == 1]
        for case in self.cases("BrokerUnregistered"):
            brokers = [case.broker] if case.broker else list(case.deed.target_names)
            is_sure = case.expected.is_sure and bool(case.broker) and len(case.expected.types) == 1
            for broker in brokers:
                back = [
                    other
                    for other in returns
                    if (other.server, other.broker) == (case.server, broker)
                    and _is_behind(other.deed, case.deed)
                ]
                # Of those that are sure, the first one; one that is not may come, or not.
                first = min((other.deed.time_ms for other in back), default=self.end)
                own = any(other.deed is case.deed for other in back)
                earliest = self.ended(case.deed) if own else first
                sure_back = [other.due for other in back if other.expected.is_sure]
                latest = min(sure_back, default=max((other.due for other in back), default=self.end))
                yield Loss(
                    self.name,
                    case.deed,
                    case.server,
                    broker,
                    (min(case.due, self.end), earliest),
                    (case.deed.time_ms, min(latest, self.end)),
                    is_sure,
                )


def _is_behind(deed: Deed, before: Deed) -> bool:
    return (
        deed is before
        or deed.time_ms > before.time_ms
        or (deed.time_ms == before.time_ms and deed.phase == "end")
    )


START = 1_767_600_000_000
"""2026-01-05T08:00:00Z: all scenarios begin then."""


def read_scenario(name: str) -> Scenario:
    """A built-in one; what is long is cut, as it has nothing else in it, and what is large is smaller."""
    built_in = scenario_reader.load_scenario(name)._replace(start=START)
    if name == "quiet-day":
        return built_in._replace(duration=3600)
    if name == "reconnect-storm":
        return built_in._replace(plan=built_in.plan._replace(groups=4))
    return built_in


def played(name: str, folder: Path) -> Play:
    """Play it. Names of brokers, clusters and servers begin with the scenario's, so that many go together."""
    chosen_scenario = read_scenario(name)
    virtual_time.run_virtual(play_scenario(chosen_scenario, folder))
    deeds = truth_log.read_deeds(folder / truth_log.TRUTH_FILE)
    play = Play(name, deeds, [])
    for server in chosen_scenario.server_names():
        for file in sorted((folder / server / "journal").glob("*.jsonl*")):
            text = decompress_file(file.read_bytes(), str(file)).decode()
            play.lines.extend(_lines(play, server, text))
    return play


def _lines(made: Play, server: str, text: str) -> Iterator[str]:
    """Records before the end, by the right clock: a wrong one would tell all that it tells at wrong times."""
    for line in text.splitlines():
        record = json.loads(line)
        shift = next(
            (
                total
                for total, since, until in _shifts(made.deeds, server)
                if since <= record["time"] - total < until
            ),
            0,
        )
        record["time"] -= shift
        if record["time"] < made.end:
            plain = json.dumps(record, separators=(",", ":")).replace("127.0.0.1:", f"{made.address}:")
            for word in ("broker-", "cluster-"):
                plain = plain.replace(f'"{word}', f'"{made.name}/{word}')
            yield plain.replace(f'"server":"{server}"', f'"server":"{made.name}/{server}"')


def _shifts(deeds: list[Deed], server: str) -> Iterator[tuple[int, float, float]]:
    """By how many ms the clock of a server was wrong, from when to when."""
    turns = [deed for deed in deeds if deed.fault == "skew" and server in deed.target_names]
    total, since = 0, float("-inf")
    for deed in turns:
        yield total, since, deed.time_ms
        total, since = total + round(deed.details["seconds"] * 1000), deed.time_ms
    yield total, since, float("inf")
