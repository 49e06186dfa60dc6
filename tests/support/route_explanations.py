"""Scenarios in which it is asked at certain times why clients find no route, as routeExplain asks it."""

import asyncio
import time
from pathlib import Path
from typing import NamedTuple

from namesrv_core.lab import virtual_time
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Scenario
from namesrv_core.lab.scenario_player import play_scenario
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.explain.facts import RouteFacts, RouteQuestion
from nsadmin.operations.explain.findings import CauseExplanation, list_cause_ids, reach_verdict
from nsadmin.operations.explain.journal_evidence import read_journal_evidence
from nsadmin.operations.explain.observer import gather_facts
from nsadmin.operations.explain.route_causes import explain_route
from tests.support.name_servers import DEADLINE


class TimedQuestion(NamedTuple):
    """A question at a time (seconds of the scenario), about name servers and brokers by their names.

    `brokers` are asked besides those that name servers know; `recalls` reads the journals.
    """

    at: float
    question: RouteQuestion = RouteQuestion("orders")
    namesrvs: tuple[str, ...] = ("ns-1", "ns-2")
    brokers: tuple[str, ...] = ()
    recalls: bool = False
    timeout: float = 2.0


class RouteExplanation(NamedTuple):
    """What was found; `names` are name servers by address."""

    facts: RouteFacts
    found: list[CauseExplanation]
    names: dict[str, str]

    @property
    def verdict(self) -> str:
        return reach_verdict(self.found)

    @property
    def causes(self) -> dict[str, set[str]]:
        """The name servers on which each cause was found."""
        return {id_: self.servers_with(id_) for id_ in list_cause_ids(self.found)}

    def servers_with(self, cause: str, result: str = "cause") -> set[str]:
        """The name servers on which looking for a cause had that result."""
        return {
            self.names[addr]
            for item in self.found
            if (item.cause_id, item.finding.result) == (cause, result)
            for addr in item.namesrv_addrs
        }

    def evidence_of(self, cause: str) -> str:
        """All that was seen of a cause."""
        return "\n".join(item.finding.evidence for item in self.found if item.cause_id == cause)


def explain_scenario(scenario: Scenario, folder: Path, *questions: TimedQuestion) -> list[RouteExplanation]:
    """Play the scenario, and ask each question at its time; the answers in the order of the questions."""
    answers: dict[TimedQuestion, RouteExplanation] = {}

    async def asking(world: LabCluster, asked: TimedQuestion) -> None:
        await asyncio.sleep(asked.at)
        if asked.recalls:
            await _await_journals(world, folder, asked)
        # Time stands still as long as the thread runs.
        answers[asked] = await asyncio.to_thread(_answer_question, world, folder, asked)

    async def scene() -> None:
        tasks: list[asyncio.Task[None]] = []

        async def started(world: LabCluster) -> None:
            tasks.extend(asyncio.ensure_future(asking(world, asked)) for asked in questions)

        await play_scenario(scenario, folder, on_started=started)
        await asyncio.gather(*tasks)

    virtual_time.run_virtual(scene())
    return [answers[asked] for asked in questions]


async def _await_journals(world: LabCluster, folder: Path, asked: TimedQuestion) -> None:
    """Wait until journals have all that happened: what is said now is written behind it."""
    mark = {"namespace": "asked", "key": str(asked.at), "value": "now"}
    for name in asked.namesrvs:
        await world.send_request(name, RequestCode.PUT_KV_CONFIG, mark)
        await asyncio.to_thread(_until_marked, folder / name / "journal", mark)


def _until_marked(journal: Path, mark: dict[str, str]) -> None:
    begun = time.monotonic()
    while not any(
        mark.items() <= record.event_fields.items() for record in reader.read_last_records(journal, 20)
    ):
        assert time.monotonic() - begun < DEADLINE, "the journal stands still"
        time.sleep(0.002)


def _answer_question(world: LabCluster, folder: Path, asked: TimedQuestion) -> RouteExplanation:
    addrs = [world.name_servers[name].reserved_port.socket_addr for name in asked.namesrvs]
    brokers = [world.lab_brokers[name].reserved_port.socket_addr for name in asked.brokers]
    topic = asked.question.topic
    memories = [
        read_journal_evidence(folder / name / "journal", name, topic)
        for name in asked.namesrvs
        if asked.recalls
    ]
    with AdminClient(addrs, timeout=asked.timeout) as admin:
        facts = gather_facts(admin, asked.question, brokers, memories)
    return RouteExplanation(
        facts,
        explain_route(facts),
        {site.reserved_port.socket_addr: name for name, site in world.name_servers.items()},
    )
