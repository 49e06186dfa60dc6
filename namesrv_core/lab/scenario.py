"""A scenario: a fleet, and what is done to it when. Records, and which keys each fault takes."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.fleet.model import BrokerSpec

EVERYTHING = ("*",)


class Fault(NamedTuple):
    """One thing that is done at `at` seconds, and undone after `lasts` seconds if that is not 0.

    It is done `times` times, `every` seconds apart; brokers are taken one after the other, `stagger` seconds
    apart. `brokers` and `namesrvs` are patterns of names. The others are for the kinds that take them.
    """

    at: float
    kind: str
    brokers: tuple[str, ...] = EVERYTHING
    namesrvs: tuple[str, ...] = EVERYTHING
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

    def specs(self) -> list[BrokerSpec]:
        """Every broker that there is at the start."""
        return [
            spec._replace(acting_master=self.acting, load=self.traffic, auto_create=self.auto_create)
            for spec in self.plan.specs()
        ]

    @property
    def waiting(self) -> float:
        """Seconds in which a name server that was started answers no question about routes."""
        return float(
            self.settings.get("waitSecondsForService", 45) if self.settings.get("needWaitForService") else 0
        )

    def servers(self) -> list[str]:
        """The names of the name servers."""
        return [f"ns-{number + 1}" for number in range(self.namesrvs)]

    def single(self) -> list[Fault]:
        """The faults with all repetitions written out, in the order of their times."""
        found = [
            fault._replace(at=fault.at + turn * fault.every, times=1)
            for fault in self.faults
            for turn in range(fault.times)
        ]
        return sorted(found, key=lambda fault: fault.at)


class Kind(NamedTuple):
    """A kind of fault: the keys that it must have and those it may have, and what it does."""

    required: frozenset[str]
    allowed: frozenset[str]
    about: str


def _kind(required: str, optional: str, about: str) -> Kind:
    must = frozenset(required.split())
    return Kind(must, must | frozenset(optional.split()) | _COMMON, about)


_COMMON = frozenset({"at", "fault", "times", "every"})

KINDS: Mapping[str, Kind] = {
    "stop": _kind("brokers", "for stagger address", "brokers say goodbye and end"),
    "kill": _kind("brokers", "for stagger address", "brokers are gone, their connections break"),
    "restart": _kind("brokers", "for stagger address", "brokers stop and come back, after 10 s unless told"),
    "freeze": _kind("brokers for", "stagger", "brokers do nothing, their connections stay"),
    "partition": _kind("brokers namesrvs for", "", "nothing gets from brokers to name servers"),
    "slow": _kind("brokers namesrvs delay for", "", "requests take `delay` longer, and so do answers"),
    "storm": _kind("brokers for", "", "brokers are gone at once, and come back at once"),
    "impostor": _kind("brokers for", "", "another process registers as the broker, at its own address"),
    "join": _kind("brokers cluster", "for", "another slave of the group says that it is of `cluster`"),
    "createTopic": _kind(
        "brokers topic", "count queues registration", "brokers get topics, and register them"
    ),
    "deleteTopic": _kind("brokers topic", "", "brokers lose a topic; name servers are told to delete it"),
    "register": _kind("brokers registration", "", "brokers register a new version of their topics"),
    "wipe": _kind("brokers", "namesrvs", "write permission is taken from brokers, on name servers"),
    "unwipe": _kind("brokers", "namesrvs", "write permission is given back"),
    "killNamesrv": _kind("namesrvs", "for", "name servers are gone, their connections break"),
    "restartNamesrv": _kind("namesrvs", "for", "name servers stop and come back, after 5 s unless told"),
    "pauseNamesrv": _kind("namesrvs for", "", "name servers do nothing, their connections stay"),
    "relist": _kind(
        "brokers namesrvs", "", "brokers start again with these name servers alone in their lists"
    ),
    "configure": _kind("brokers key value", "", "a setting of brokers is changed"),
    "orderConf": _kind("topic value", "namesrvs", "the order configuration of a topic is written"),
    "forgetTopic": _kind("topic", "namesrvs", "name servers are told to delete a topic, and brokers keep it"),
    "skew": _kind("seconds", "brokers namesrvs", "clocks of brokers, or of name servers, are set"),
}


def matching(patterns: tuple[str, ...], names: Mapping[str, object] | list[str]) -> list[str]:
    """The names that one of the patterns means; a broker's pattern without an id means all of the group."""
    return [
        name
        for name in names
        if any(fnmatchcase(name, p) or (":" not in p and fnmatchcase(name, f"{p}:*")) for p in patterns)
    ]
