"""What checks remember between runs: which looks are kept, and which one a new look is compared with."""

from pathlib import Path

import pytest

from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.looks import HOUR_MS, Look, add_look, choose_look, compare_look
from nsadmin.operations.inventory.keeper import InventoryKeeper

MINUTE_MS = HOUR_MS // 60


def looks_at(*minutes: int) -> list[Look]:
    return [Look(minute * MINUTE_MS, {}) for minute in minutes]


@pytest.mark.parametrize(
    ("minutes", "chosen"),
    [((), None), ((130,), 130), ((90, 130), 90), ((10, 70, 100), 70), ((10,), 10), ((140, 150), None)],
)
def test_the_newest_look_before_the_window_counts_or_else_the_first_in_it(
    minutes: tuple[int, ...], chosen: int | None
) -> None:
    look = choose_look(looks_at(*minutes), 140 * MINUTE_MS, HOUR_MS)
    assert look == (None if chosen is None else Look(chosen * MINUTE_MS, {}))


@pytest.mark.parametrize(
    ("minutes", "kept"),
    [((), (140,)), ((10, 70, 100), (70, 100, 140)), ((70, 138), (70, 138)), ((200,), (140,))],
)
def test_no_more_looks_are_kept_than_the_window_needs(
    minutes: tuple[int, ...], kept: tuple[int, ...]
) -> None:
    assert add_look(looks_at(*minutes), looks_at(140)[0], HOUR_MS) == looks_at(*kept)


def test_a_look_is_found_again_for_its_cluster_and_a_damaged_file_is_none(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "servers", environment={"NSADMIN_STATE": str(tmp_path)})
    scope = CheckScope(inventory=inventory)
    first, second = Look(1, {"G": 5}), Look(2, {"G": 6})
    assert compare_look(scope, "dlq", first) is None
    assert compare_look(scope, "dlq", second) == first
    assert compare_look(scope._replace(cluster_name="C/D"), "dlq", second) is None
    for file in tmp_path.rglob("check-dlq*.json"):
        file.write_text("{")
    assert compare_look(scope, "dlq", second) is None
    off = InventoryKeeper(lambda: "servers", environment={"NSADMIN_INVENTORY": "off"})
    assert compare_look(CheckScope(inventory=off), "dlq", second) is None
