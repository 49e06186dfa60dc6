"""The scenario: a fleet and the faults to apply to it. Also the kinds of faults with their keys."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.fleet import FleetPlan

MATCH_ALL = ("*",)


class Fault(NamedTuple):
    """A fault that begins at `at` seconds, and ends after `lasts` seconds if that is not 0.

    It happens `times` times, `every` seconds apart. With `stagger`, brokers follow each other at that
    interval in seconds. `brokers` and `namesrvs` are patterns of names. Other fields depend on the kind.
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
    """A scenario with the fleet `plan`. `acting` slaves act for masters; `traffic` multiplies the usual load.

    Brokers create topics automatically if `auto_create`. `settings` are the changed settings of the name
    servers. `duration` is in seconds; `start` in ms since 1970, None for the time of the run.
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
        return [
            s._replace(acting_master=self.acting, traffic_factor=self.traffic, auto_create=self.auto_create)
            for s in self.plan.plan_brokers()
        ]

    @property
    def wait_seconds(self) -> float:
        """The seconds after its start in which a name server answers no route request."""
        return float(
            self.settings.get("waitSecondsForService", 45) if self.settings.get("needWaitForService") else 0
        )

    def server_names(self) -> list[str]:
        return [f"ns-{server_number + 1}" for server_number in range(self.namesrvs)]

    def expand_repetitions(self) -> list[Fault]:
        """The faults with all repetitions expanded, sorted by time."""
        single_faults = [
            fault._replace(at=fault.at + repetition * fault.every, times=1)
            for fault in self.faults
            for repetition in range(fault.times)
        ]
        return sorted(single_faults, key=lambda fault: fault.at)


class FaultKind(NamedTuple):
    """A kind of fault: its required and its allowed keys, and a description of its effect."""

    required_keys: frozenset[str]
    allowed_keys: frozenset[str]
    about: str


def _define_kind(required_words: str, optional_words: str, about: str) -> FaultKind:
    required_keys = frozenset(required_words.split())
    return FaultKind(required_keys, required_keys | frozenset(optional_words.split()) | _COMMON_KEYS, about)


_COMMON_KEYS = frozenset({"at", "fault", "times", "every"})

FAULT_KINDS: Mapping[str, FaultKind] = {
    "stop": _define_kind("brokers", "for stagger address", "brokers unregister and stop"),
    "kill": _define_kind("brokers", "for stagger address", "brokers are killed, their connections break"),
    "restart": _define_kind(
        "brokers", "for stagger address", "brokers stop and start again, by default after 10 s"
    ),
    "freeze": _define_kind("brokers for", "stagger", "brokers freeze, their connections stay open"),
    "partition": _define_kind(
        "brokers namesrvs for", "", "the network between brokers and name servers is cut"
    ),
    "slow": _define_kind("brokers namesrvs delay for", "", "requests and answers are delayed by `delay`"),
    "storm": _define_kind("brokers for", "", "all brokers are killed together and start again together"),
    "impostor": _define_kind(
        "brokers for", "", "another process registers as the broker, from its own address"
    ),
    "join": _define_kind("brokers cluster", "for", "another slave of the group registers in `cluster`"),
    "createTopic": _define_kind(
        "brokers topic", "count queues registration", "topics are created on brokers, which register them"
    ),
    "deleteTopic": _define_kind("brokers topic", "", "a topic is deleted on brokers and name servers"),
    "register": _define_kind(
        "brokers registration", "", "brokers register their topics with a new data version"
    ),
    "wipe": _define_kind("brokers", "namesrvs", "write permission of brokers is removed on name servers"),
    "unwipe": _define_kind("brokers", "namesrvs", "write permission is restored"),
    "killNamesrv": _define_kind("namesrvs", "for", "name servers are killed, their connections break"),
    "restartNamesrv": _define_kind(
        "namesrvs", "for", "name servers stop and start again, by default after 5 s"
    ),
    "pauseNamesrv": _define_kind("namesrvs for", "", "name servers freeze, their connections stay open"),
    "relist": _define_kind(
        "brokers namesrvs", "", "brokers restart with only these name servers in their list"
    ),
    "configure": _define_kind("brokers key value", "", "a broker setting changes"),
    "orderConf": _define_kind("topic value", "namesrvs", "the order configuration of a topic is written"),
    "forgetTopic": _define_kind(
        "topic", "namesrvs", "a topic is deleted on name servers, but not on brokers"
    ),
    "skew": _define_kind("seconds", "brokers namesrvs", "the clocks of brokers or name servers are changed"),
}


def match_names(patterns: tuple[str, ...], candidate_names: Mapping[str, object] | list[str]) -> list[str]:
    """The names that match one of the patterns. A broker pattern without an id matches the whole group."""
    return [
        n
        for n in candidate_names
        if any(fnmatchcase(n, p) or (":" not in p and fnmatchcase(n, f"{p}:*")) for p in patterns)
    ]
