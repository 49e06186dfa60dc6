"""Divergence, the comparison of all name servers with the brokers that are missing."""

from collections.abc import Callable, Collection, Sequence
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import BadSettings
from nsadmin.client.admin import AdminClient
from nsadmin.operations.divergence.comparison import STATE_SECTIONS
from nsadmin.operations.divergence.observer import (
    DivergenceObservation,
    DivergenceObserver,
    find_missing_brokers,
)
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.inventory.records import MissingBroker


class Divergence(NamedTuple):
    """How the state of name servers differs.

    Attributes:
        observation: The snapshot of each name server, the findings with their causes, and the verdict:
            "agree", "converging", "diverge", "partial" or "unknown".
        missing_brokers: Expected brokers that no name server lists.
    """

    observation: DivergenceObservation
    missing_brokers: tuple[MissingBroker, ...]


def find_divergence(
    admin: AdminClient,
    inventory: InventoryKeeper,
    pause_seconds: Callable[[float], None],
    *,
    settle_seconds: float,
    sections: Collection[str] | None,
    namespaces: Sequence[str],
    on_waiting: Callable[[DivergenceObservation, float], object] | None,
) -> Divergence:
    """Compare all name servers; see `AdminClient.find_divergence`."""
    compared_sections = tuple(STATE_SECTIONS if sections is None else sections)
    for section in compared_sections:
        if section not in STATE_SECTIONS:
            raise BadSettings(f"unknown section {section!r}: there are {', '.join(STATE_SECTIONS)}")
    divergence_observer = DivergenceObserver(
        admin,
        lambda: int(monotonic() * 1000),
        namespaces=tuple(namespaces),
        sections=compared_sections,
        settle_ms=int(settle_seconds * 1000),
    )

    def report_wait(observation: DivergenceObservation, seconds: float) -> None:
        if on_waiting is not None:
            on_waiting(observation, seconds)

    observation = divergence_observer.observe_until_settled(pause_seconds, report_wait)
    missing_brokers = find_missing_brokers(observation, inventory)
    if "broker" not in compared_sections:
        missing_brokers = ()
    return Divergence(observation, missing_brokers)
