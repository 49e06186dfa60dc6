"""A lab of one cluster with two masters and two name servers, and a client of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin import AdminClient
from tests.support.lab import Lab, start_lab

CLUSTER = "cluster-a"
A, B = "broker-a-0", "broker-a-1"


@pytest.fixture
def running_lab(tmp_path: Path) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", FleetPlan(1, 2, 1, 6), name_servers=2) as running:
        yield running


@pytest.fixture
def admin(running_lab: Lab) -> Iterator[AdminClient]:
    with AdminClient(running_lab.namesrv_addr, timeout=5) as client:
        yield client
