"""nsadmin batch on released servers: what each line does, over connections that stay open."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.interop.cluster import permissions
from tests.interop.command_line import ENVIRONMENT, PATIENT
from tests.interop.daily import Cluster
from tests.support import forked_commands

LINES = """\
# A topic from its birth to its death
nsadmin updateTopic -t BatchT -c DefaultCluster -r 4 -w 4
updateTopicPerm BatchT 4 -c DefaultCluster
topicStatus BatchT
topicRoute NoSuchTopic
clusterList --output csv --columns brokerName,version,reachable

deleteTopic BatchT DefaultCluster
topicRoute BatchT
"""


@pytest.fixture(scope="module")
def cluster(cluster: Cluster) -> Cluster:
    return cluster._replace(server=cluster.java)


def batch(cluster: Cluster, lines: str, *args: str) -> "subprocess.CompletedProcess[str]":
    return forked_commands.run(
        [*PATIENT, "batch", "-", "-n", cluster.server.address, *args], ENVIRONMENT, typed=lines, timeout=60
    )


def test_lines_change_a_released_broker_one_after_the_other(cluster: Cluster) -> None:
    result = batch(cluster, LINES, "--yes", "--output", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert "brokerName,version,reachable\nbroker-a,V5_5_0,true\n" in result.stdout
    assert {row["queueId"] for row in rows if "queueId" in row} == {0, 1, 2, 3}
    messages = [line for line in result.stderr.splitlines() if "stdin:" in line]
    assert [line.partition(":")[2].strip().partition(" ")[0] for line in messages] == ["stdin:5:", "stdin:9:"]
    assert result.returncode == 5
    assert "BatchT" not in permissions(cluster.server, "broker-a")


def test_a_dry_run_of_them_changes_nothing(cluster: Cluster) -> None:
    before = permissions(cluster.server, "broker-a")
    result = batch(cluster, "updateTopic -t Never -c DefaultCluster\nwipeWritePerm broker-a\n", "--dry-run")
    assert (result.returncode, result.stderr) == (0, "")
    assert "Never" in result.stdout
    assert permissions(cluster.server, "broker-a") == before


def test_requests_to_a_server_go_over_one_connection(cluster: Cluster, tmp_path: Path) -> None:
    before = closed_to(cluster.server.port)
    lines = tmp_path / "lines"
    lines.write_text("topicRoute TBW102\n" * 50)
    result = forked_commands.run(
        [*PATIENT, "batch", str(lines), "-n", cluster.server.address, "--json"], ENVIRONMENT, timeout=60
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count('"topic": "TBW102"') == 50 * 2  # A row for each broker.
    assert closed_to(cluster.server.port) - before < 10


def closed_to(port: int) -> int:
    """Connections to a port of this machine that ended within the last minute."""
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(row.split()[2].endswith(f":{port:04X}") and row.split()[3] == "06" for row in table)
