"""What is refused before a rebalance runs; the rest is tested with the command."""

from pathlib import Path
from typing import Any, cast

import pytest

from nsadmin.client import NotApplied
from nsadmin.operations.rebalance.rebalance_plan import QueuePair, RebalanceMove, RebalancePlan
from nsadmin.operations.rebalance.run_preparation import prepare_run
from nsadmin.operations.rebalance.run_rules import RunRules
from tests.support.installations import make_installation


class SharedMasters:
    def list_masters(self) -> dict[str, str]:
        return {"a": "h:1", "b": "h:1", "c": "h:2"}


def test_two_names_of_one_process_are_refused(tmp_path: Path) -> None:
    move = RebalanceMove("T", False, {"a": QueuePair(4, 4)}, {"c": QueuePair(4, 4)})
    plan = RebalancePlan("C", "", "queues", "", (move,))
    with pytest.raises(NotApplied, match="a and b are one process, at h:1: restart the name servers"):
        prepare_run(
            cast(Any, None),
            plan,
            RunRules(),
            cast(Any, SharedMasters()),
            make_installation(tmp_path, "h:9"),
            0,
            "x",
        )
