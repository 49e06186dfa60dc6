"""How long `nsadmin bundle create` takes on 1,000 brokers with 100,000 topics: `make bench-bundle`."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nsadmin.client.bundles.bundle_file import SupportBundle
from tests.bench.tui_fleet import FleetSize, running_fleet
from tests.support.running import ROOT

LIMIT_SECONDS = 60.0
LARGE = FleetSize(broker_groups=500, topics_per_group=200)


def measure(size: FleetSize, home: Path) -> tuple[float, int]:
    """Make a bundle of a fleet through one name server; return the seconds and the number of answers."""
    bundle_path = home / "fleet.nsbundle.zip"
    with running_fleet(home, size) as addrs:
        time.sleep(5)
        began_at = time.monotonic()
        subprocess.run(
            [
                sys.executable,
                "-m",
                "nsadmin",
                "bundle",
                "create",
                str(bundle_path),
                "-n",
                addrs.split(";")[0],
            ],
            check=True,
            cwd=ROOT,
            timeout=600,
        )
        seconds = time.monotonic() - began_at
    with SupportBundle(bundle_path) as bundle:
        return seconds, bundle.manifest.request_count


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        seconds, answer_count = measure(LARGE, Path(folder))
    print(f"bundle create: {seconds:.1f} s, {answer_count} answers (limit: {LIMIT_SECONDS:.0f} s)")
    return int(seconds > LIMIT_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
