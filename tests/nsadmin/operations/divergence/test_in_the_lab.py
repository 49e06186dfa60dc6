"""The scenario about it: each cause is produced, told from what goes by itself, and found."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from namesrv_core.lab import virtual_time
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario_player import play_scenario
from namesrv_core.lab.scenario_reader import load_built_in_scenarios
from nsadmin import AdminClient
from nsadmin.operations.divergence.observer import DivergenceObservation, DivergenceObserver
from nsadmin.operations.divergence.verdict import DEFAULT_SETTLE_MS, describe_difference, format_item_name

MOMENTS = (30, 70, 330, 430, 610, 800, 918, 1150, 1310, 1390, 1530, 1680.5, 1750)


class Told(NamedTuple):
    """The first look at a time, and the second one two heartbeats later; name servers by their names."""

    first: DivergenceObservation
    second: DivergenceObservation
    names: dict[str, str]

    @property
    def causes(self) -> set[str]:
        return {finding.cause.kind for finding in self.second.findings if finding.state == "drift"}

    @property
    def text(self) -> str:
        """All that is said of the second look."""
        servers = self.second.comparison.server_addrs
        lines = [
            f"{finding.section_name} {format_item_name(finding.differences[0].item)} "
            f"{describe_difference(finding.differences[0], servers)}:"
            f" {finding.cause.text}"
            for finding in self.second.findings
        ]
        text = "\n".join(lines)
        for addr, name in self.names.items():
            text = text.replace(addr, name)
        return text


def looked(folder: Path) -> dict[float, Told]:
    """Play the scenario, and look twice from each of the moments on."""
    looks_by_time: dict[float, Told] = {}

    async def looking(world: LabCluster, at: float) -> None:
        names = {site.reserved_port.socket_addr: name for name, site in world.name_servers.items()}
        await asyncio.sleep(at)
        with AdminClient(list(names), timeout=2) as admin:
            looks = DivergenceObserver(admin, lambda: int(world.clock_seconds() * 1000))
            # Time stands still as long as the thread runs.
            first = await asyncio.to_thread(looks.observe_once)
            await asyncio.sleep(DEFAULT_SETTLE_MS / 1000)
            looks_by_time[at] = Told(first, await asyncio.to_thread(looks.observe_once), names)

    async def scene() -> None:
        tasks: list[asyncio.Task[None]] = []

        async def started(world: LabCluster) -> None:
            tasks.extend(asyncio.ensure_future(looking(world, at)) for at in MOMENTS)

        await play_scenario(load_built_in_scenarios()["drift"], folder, on_started=started)
        await asyncio.gather(*tasks)

    virtual_time.run_virtual(scene())
    return looks_by_time


def test_whatever_happens_in_the_scenario_about_it_the_cause_is_found(tmp_path: Path) -> None:
    looks_by_time = looked(tmp_path)
    well = (330, 800, 1310, 1530, 1680.5, 1750)
    assert {at: looks_by_time[at].second.verdict for at in well} == dict.fromkeys(well, "agree")

    # What begins between two looks is new, and nothing that one is told to act on.
    assert (looks_by_time[30].first.verdict, looks_by_time[30].second.verdict) == ("agree", "converging")
    assert looks_by_time[70].first.verdict == "converging"
    assert (looks_by_time[70].second.verdict, looks_by_time[70].causes) == ("diverge", {"partial-list"})
    assert "its namesrvAddr does not name ns-3" in looks_by_time[70].text
    assert looks_by_time[430].causes == {"wiped"}
    assert "removed on ns-2 only" in looks_by_time[430].text
    assert looks_by_time[610].causes == {"write-perm-added"}
    assert "addWritePerm was sent to ns-2" in looks_by_time[610].text
    assert looks_by_time[918].causes == {"not-registered"}
    assert "topic fresh on ns-1 ns-2, not on ns-3" in looks_by_time[918].text
    assert looks_by_time[1150].causes == {"partition"}
    assert "its registrations do not reach ns-3" in looks_by_time[1150].text
    assert looks_by_time[1390].causes == {"kv-written-to-some"}
    assert "written to ns-1 only" in looks_by_time[1390].text
    # A slow way is seen, and has gone by the second look.
    assert looks_by_time[1680.5].first.verdict == "converging"
