"""Which drains a change of a topic would partly undo."""

import os
from pathlib import Path

import pytest

from nsadmin.operations.drain.drained_brokers import explain_drain_conflicts
from nsadmin.operations.drain.state import DrainFolder, DrainState, QueueSnapshot, load_drains, open_drain
from tests.support.installations import make_installation

SAFE = DrainState("C", "broker-a", ("h:1", "h:2"), 1, 2, phase="safe")


def keep(home: Path, state: DrainState) -> DrainFolder:
    store = open_drain(home, state.cluster, state.broker)
    store.lock.acquire()
    store.save(state, QueueSnapshot())
    return store


def conflicts(home: Path, *names: str) -> list[str]:
    drains = make_installation(home, "h:2", "h:3").keep_own(load_drains(home))
    return list(explain_drain_conflicts(drains, names))


def test_a_drain_that_no_process_holds_is_named_with_the_command_that_goes_on(tmp_path: Path) -> None:
    keep(tmp_path, SAFE).lock.release()
    [line] = conflicts(tmp_path, "broker-a", "broker-b")
    assert line.startswith(
        "broker-a is drained, and no nsadmin watches it: this change makes the broker register"
    )
    assert line.endswith(
        "writable topics; run `nsadmin drain broker-a -n 'h:1;h:2'` to remove the write permission again"
    )


def test_a_drain_under_way_is_named_with_its_process(tmp_path: Path) -> None:
    store = keep(tmp_path, SAFE)
    [line] = conflicts(tmp_path, "broker-a")
    assert line == (
        f"process {os.getpid()} is draining broker-a: this change makes the broker register writable topics "
        "until the drain removes the write permission again"
    )
    store.lock.release()


@pytest.mark.parametrize(
    "state",
    [
        SAFE._replace(durable=True),
        SAFE._replace(phase="undrain"),
        SAFE._replace(broker="broker-b"),
        SAFE._replace(name_servers=("other:1",)),
    ],
)
def test_other_drains_are_no_reason_to_warn(tmp_path: Path, state: DrainState) -> None:
    keep(tmp_path, state).lock.release()
    assert conflicts(tmp_path, "broker-a") == []


def test_a_folder_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    store = keep(tmp_path, SAFE)
    (store.path / "state.json").write_text("{")
    store.lock.release()
    [warning] = conflicts(tmp_path, "broker-a")
    assert warning.startswith(f"{store.path / 'state.json'} is not JSON: ")
