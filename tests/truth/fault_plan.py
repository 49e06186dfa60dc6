"""Fault plan: random faults that overlap, and requests of operators, for a seed. Times are in seconds."""

from random import Random
from typing import NamedTuple

DURATION_SECONDS = 3 * 3600
SERVER_NUMBERS = (1, 2, 3)
GROUP_LETTERS = ("a", "b", "c")
_QUIET_SECONDS = 300
"""No fault begins in the first minutes, and in the last ones."""

_WEIGHTS = {
    "stop broker": 4,
    "kill broker": 4,
    "freeze broker": 4,
    "partition": 6,
    "stop name server": 2,
    "kill name server": 2,
    "freeze name server": 3,
    "step clock": 1,
    "wipe": 5,
    "close by permission": 2,
    "change topics": 4,
    "change KV config": 3,
}
_LONGEST_SECONDS = {"partition": 600, "freeze broker": 400, "wipe": 1500, "close by permission": 900}
_SHORTEST_SECONDS = {"freeze name server": 15, "stop broker": 5, "kill broker": 2}
FAULT_COUNT = 24


class PlannedFault(NamedTuple):
    """A fault from `since` to `until`. `broker` is a name and an id, `servers` are names of name servers.

    `choice` is a random number for what the kind leaves open.
    """

    kind: str
    since: float
    until: float
    group: str
    broker_id: int
    servers: tuple[str, ...]
    choice: float


def plan_faults(seed: int, server_names: tuple[str, ...]) -> list[PlannedFault]:
    """Plan the faults of a seed, in the order in which they begin."""
    random = Random(f"faults {seed}")
    kinds = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=FAULT_COUNT)
    return sorted(
        (_plan_fault(random, k, server_names) for k in kinds), key=lambda fault: (fault.since, fault.kind)
    )


def _plan_fault(random: Random, kind: str, server_names: tuple[str, ...]) -> PlannedFault:
    since = random.uniform(_QUIET_SECONDS, DURATION_SECONDS - _QUIET_SECONDS)
    shortest, longest = _SHORTEST_SECONDS.get(kind, 20), _LONGEST_SECONDS.get(kind, 300)
    # Most faults are short, some are long.
    lasts = shortest + (longest - shortest) * random.random() ** 2
    server_count = random.choices((1, 2, 3), (5, 2, 1) if kind == "partition" else (1, 1, 6))[0]
    return PlannedFault(
        kind,
        since,
        since + lasts,
        random.choice(GROUP_LETTERS),
        random.randrange(2),
        tuple(sorted(random.sample(server_names, server_count))),
        random.random(),
    )
