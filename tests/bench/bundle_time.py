"""How long `nsadmin bundle create` takes on 1,000 brokers with 100,000 topics: `make bench-bundle`.

The simulated brokers run on the same machine, in one process. So their processor time is printed, too: a
cluster of real brokers has it on other machines.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from nsadmin.client.bundles.bundle_file import SupportBundle
from tests.bench.tui import Watched
from tests.bench.tui_fleet import FleetSize, running_fleet
from tests.support.name_servers import ServerProgram

LIMIT_SECONDS = 60.0
LARGE = FleetSize(broker_groups=500, topics_per_group=200)


class BundleRun(NamedTuple):
    """Seconds from start to end, processor seconds of nsadmin and of the fleet, memory, and answers."""

    seconds: float
    own_seconds: float
    fleet_seconds: float
    megabytes: float
    answer_count: int


def measure(size: FleetSize, home: Path) -> BundleRun:
    """Make a bundle of a fleet through one name server."""
    bundle_path = home / "fleet.nsbundle.zip"
    with running_fleet(home, size) as addrs:
        time.sleep(5)
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        fleet = [Watched(int(pid)) for pid in children]
        fleet_before, began_at = sum(part.seconds for part in fleet), time.monotonic()
        command = [sys.executable, "-m", "nsadmin", "bundle", "create", str(bundle_path)]
        process_id = os.spawnve(
            os.P_NOWAIT,
            sys.executable,
            [*command, "-n", addrs.split(";")[0]],
            ServerProgram.make_environment(),
        )
        _, status, usage = os.wait4(process_id, 0)
        assert status == 0, status
        seconds = time.monotonic() - began_at
        fleet_seconds = sum(part.seconds for part in fleet) - fleet_before
    with SupportBundle(bundle_path) as bundle:
        return BundleRun(
            seconds,
            usage.ru_utime + usage.ru_stime,
            fleet_seconds,
            usage.ru_maxrss / 1024,
            bundle.manifest.request_count,
        )


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        run = measure(LARGE, Path(folder))
    print(f"bundle create: {run.seconds:.1f} s, {run.answer_count} answers (limit: {LIMIT_SECONDS:.0f} s)")
    print(f"nsadmin: {run.own_seconds:.1f} s of processor time, {run.megabytes:.0f} MiB")
    print(f"simulated name servers and brokers: {run.fleet_seconds:.1f} s of processor time")
    return int(run.seconds > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
