"""Who makes room for a new HTTP connection."""

from namesrv_core.transport.http_slots import HttpPhase, HttpSlots


class Holder:
    """A connection of which only the phase matters."""

    def __init__(self, host: str, phase: HttpPhase = HttpPhase.IDLE) -> None:
        self.peer_host = host
        self.phase = phase
        self.is_aborted = False

    def current_phase(self) -> HttpPhase:
        return self.phase

    def close(self) -> None:
        self.is_aborted = True

    def abort(self) -> None:
        self.is_aborted = True


def admitted(slots: HttpSlots, *holders: Holder) -> list[Holder]:
    for holder in holders:
        slots.admit_holder(holder)
    return list(holders)


def aborted(holders: list[Holder]) -> list[int]:
    return [place for place, holder in enumerate(holders) if holder.is_aborted]


def test_phases_decide_before_age() -> None:
    phases = [*reversed(HttpPhase), HttpPhase.IDLE]
    slots = HttpSlots(max_connections_per_host=5)
    holders = admitted(slots, *(Holder("a", phase) for phase in phases))
    for expected in ([3], [3, 4], [2, 3, 4], [1, 2, 3, 4], [0, 1, 2, 3, 4]):
        admitted(slots, Holder("a", HttpPhase.AWAITS_RESPONSE))
        assert aborted(holders) == expected


def test_a_connection_that_is_renewed_is_the_newest() -> None:
    slots = HttpSlots(max_connections_per_host=3)
    holders = admitted(slots, *(Holder("a") for _ in range(3)))
    slots.renew_holder(holders[0])
    admitted(slots, Holder("a"))
    assert aborted(holders) == [1]


def test_a_released_connection_leaves_its_slot_to_another_one_and_cannot_be_renewed() -> None:
    slots = HttpSlots(max_connections_per_host=2)
    holders = admitted(slots, Holder("a"), Holder("a"))
    for _ in range(2):
        slots.release_holder(holders[0])
    slots.renew_holder(holders[0])
    holders += admitted(slots, Holder("a"))
    assert (aborted(holders), slots.list_holders()) == ([], holders[1:])


def test_of_64_addresses_with_one_connection_each_the_oldest_makes_room() -> None:
    slots = HttpSlots()
    holders = admitted(slots, *(Holder(f"10.0.0.{number}") for number in range(64)))
    holders += admitted(slots, Holder("10.0.1.0"))
    assert aborted(holders) == [0]
    assert len(slots.list_holders()) == 64
