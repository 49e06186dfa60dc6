"""A scenario: a fleet, and what is done to it when. Records, and which keys each fault takes."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.fleet import FleetPlan

MATCH_ALL = ("*",)


class Fault(NamedTuple):
    """One thing that is done at `at` seconds, and undone after `lasts` seconds if that is not 0.

    It is done `times` times, `every` seconds apart; brokers are taken one after the other, `stagger` seconds
    apart. `brokers` and `namesrvs` are patterns of names. The others are for the kinds that take them.
    """

    at: float
    kind: str
    brokers: tuple[str, ...] = MATCH_ALL
    namesrvs: tuple[str, ...] = MATCH_ALL
    lasts: float = 0
    times: int = 1
    every: float = 0
    stagger: float = 0
    address: str = "same"
    cluster: str = ""
    number: int = 1
    delay: float = 0
    queues: int = 8
    registration: str = "incremental"
    seconds: float = 0
    topic: str = ""
    key: str = ""
    value: str = ""


class Scenario(NamedTuple):
    """What is played: `plan` as fleet, of brokers that are `acting` and have `traffic` times the usual load.

    Brokers create topics by themselves if `auto_create`. `settings` are those of the name servers that are
    not as usual. `duration` is in seconds; `start` in ms since 1970, None for the time of the run.
    """

    name: str
    about: str = ""
    plan: FleetPlan = FleetPlan(clusters=1, groups=2, replicas=2, topics=10)
    acting: bool = False
    auto_create: bool = True
    traffic: float = 1
    namesrvs: int = 3
    duration: float = 600
    start: int | None = None
    faults: tuple[Fault, ...] = ()
    settings: Mapping[str, Any] = {}

    def initial_specs(self) -> list[BrokerSpec]:
        """Every broker that there is at the start."""
        return [
            broker_spec._replace(
                acting_master=self.acting, traffic_factor=self.traffic, auto_create=self.auto_create
            )
            for broker_spec in self.plan.plan_brokers()
        ]

    @property
    def wait_seconds(self) -> float:
        """Seconds in which a name server that was started answers no question about routes."""
        return float(
            self.settings.get("waitSecondsForService", 45) if self.settings.get("needWaitForService") else 0
        )

    def server_names(self) -> list[str]:
        """The names of the name servers."""
        return [f"ns-{server_number + 1}" for server_number in range(self.namesrvs)]

    def expand_repetitions(self) -> list[Fault]:
        """The faults with all repetitions written out, in the order of their times."""
        single_faults = [
            fault._replace(at=fault.at + repetition * fault.every, times=1)
            for fault in self.faults
            for repetition in range(fault.times)
        ]
        return sorted(single_faults, key=lambda fault: fault.at)


class FaultKind(NamedTuple):
    """A kind of fault: the keys that it must have and those it may have, and what it does."""

    required_keys: frozenset[str]
    allowed_keys: frozenset[str]
    about: str


def _define_kind(required_words: str, optional_words: str, about: str) -> FaultKind:
    required_keys = frozenset(required_words.split())
    return FaultKind(required_keys, required_keys | frozenset(optional_words.split()) | _COMMON_KEYS, about)


_COMMON_KEYS = frozenset({"at", "fault", "times", "every"})

FAULT_KINDS: Mapping[str, FaultKind] = {
    "stop": _define_kind("brokers", "for stagger address", "brokers say goodbye and end"),
    "kill": _define_kind("brokers", "for stagger address", "brokers are gone, their connections break"),
    "restart": _define_kind(
        "brokers", "for stagger address", "brokers stop and come back, after 10 s unless told"
    ),
    "freeze": _define_kind("brokers for", "stagger", "brokers do nothing, their connections stay"),
    "partition": _define_kind("brokers namesrvs for", "", "nothing gets from brokers to name servers"),
    "slow": _define_kind("brokers namesrvs delay for", "", "requests take `delay` longer, and so do answers"),
    "storm": _define_kind("brokers for", "", "brokers are gone at once, and come back at once"),
    "impostor": _define_kind(
        "brokers for", "", "another process registers as the broker, at its own address"
    ),
    "join": _define_kind("brokers cluster", "for", "another slave of the group says that it is of `cluster`"),
    "createTopic": _define_kind(
        "brokers topic", "count queues registration", "brokers get topics, and register them"
    ),
    "deleteTopic": _define_kind(
        "brokers topic", "", "brokers lose a topic; name servers are told to delete it"
    ),
    "register": _define_kind("brokers registration", "", "brokers register a new version of their topics"),
    "wipe": _define_kind("brokers", "namesrvs", "write permission is taken from brokers, on name servers"),
    "unwipe": _define_kind("brokers", "namesrvs", "write permission is given back"),
    "killNamesrv": _define_kind("namesrvs", "for", "name servers are gone, their connections break"),
    "restartNamesrv": _define_kind(
        "namesrvs", "for", "name servers stop and come back, after 5 s unless told"
    ),
    "pauseNamesrv": _define_kind("namesrvs for", "", "name servers do nothing, their connections stay"),
    "relist": _define_kind(
        "brokers namesrvs", "", "brokers start again with these name servers alone in their lists"
    ),
    "configure": _define_kind("brokers key value", "", "a setting of brokers is changed"),
    "orderConf": _define_kind("topic value", "namesrvs", "the order configuration of a topic is written"),
    "forgetTopic": _define_kind(
        "topic", "namesrvs", "name servers are told to delete a topic, and brokers keep it"
    ),
    "skew": _define_kind("seconds", "brokers namesrvs", "clocks of brokers, or of name servers, are set"),
}


def match_names(patterns: tuple[str, ...], candidate_names: Mapping[str, object] | list[str]) -> list[str]:
    """The names that one of the patterns means; a broker's pattern without an id means all of the group."""
    return [
        candidate_name
        for candidate_name in candidate_names
        if any(
            fnmatchcase(candidate_name, pattern)
            or (":" not in pattern and fnmatchcase(candidate_name, f"{pattern}:*"))
            for pattern in patterns
        )
    ]
