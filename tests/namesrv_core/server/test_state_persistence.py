"""Changes reach the disk before they are answered; a disk that fails undoes them."""

import asyncio
import threading

from namesrv_core.server.state_persistence import ChangePersister


class Disk:
    """A list of numbers that is kept; what `fails` says goes wrong, and each write waits for `gate`."""

    def __init__(self) -> None:
        self.memory: list[int] = [0]
        self.written: list[list[int]] = []
        self.fails = False
        self.gate = threading.Event()
        self.gate.set()
        self.told: list[Exception | None] = []
        self.keeper: ChangePersister[list[int]] = ChangePersister(
            lambda: list(self.memory), self.save, self.restore
        )

    def save(self, snapshot: list[int]) -> None:
        assert self.gate.wait(10)
        if self.fails:
            raise OSError("full")
        self.written.append(snapshot)

    def restore(self, snapshot: list[int]) -> None:
        self.memory = list(snapshot)

    def change(self, number: int) -> None:
        self.memory.append(number)
        self.keeper.persist_change(self.told.append)


async def test_nobody_is_told_before_it_is_written() -> None:
    disk = Disk()
    assert not disk.keeper.is_writing
    disk.gate.clear()
    disk.change(1)
    assert disk.keeper.is_writing
    await asyncio.sleep(0)
    assert (disk.told, disk.written) == ([], [])
    disk.gate.set()
    await disk.keeper.finish_writes()
    assert (disk.told, disk.written) == ([None], [[0, 1]])


async def test_changes_that_come_during_a_write_go_together_with_the_next() -> None:
    disk = Disk()
    disk.gate.clear()
    disk.change(1)
    await asyncio.sleep(0)
    disk.change(2)
    disk.change(3)
    disk.gate.set()
    await disk.keeper.finish_writes()
    assert disk.written == [[0, 1], [0, 1, 2, 3]]
    assert disk.told == [None] * 3


async def test_a_failure_undoes_what_was_not_written_with_all_that_was_built_on_it() -> None:
    disk = Disk()
    disk.change(1)
    await disk.keeper.finish_writes()
    disk.fails = True
    disk.gate.clear()
    disk.change(2)
    await asyncio.sleep(0)
    disk.change(3)
    disk.gate.set()
    await disk.keeper.finish_writes()
    assert disk.memory == [0, 1]
    assert [str(failure) for failure in disk.told] == ["None", "full", "full"]


async def test_after_a_failure_the_next_change_is_written() -> None:
    disk = Disk()
    disk.fails = True
    disk.change(1)
    await disk.keeper.finish_writes()
    disk.fails = False
    disk.change(2)
    await disk.keeper.finish_writes()
    assert disk.written == [[0, 2]]
    assert disk.told[-1] is None


async def test_there_is_nothing_to_finish_where_nothing_changed() -> None:
    await Disk().keeper.finish_writes()


async def test_what_cannot_be_written_for_any_other_reason_is_undone_too() -> None:
    disk = Disk()

    def broken(snapshot: list[int]) -> None:
        raise ValueError("no text for that")

    disk.keeper = ChangePersister(lambda: list(disk.memory), broken, disk.restore)
    disk.change(1)
    await disk.keeper.finish_writes()
    assert isinstance(disk.told[0], ValueError)
    assert disk.memory == [0]
