"""Looking: at all name servers until it is clear what drift is, and at what brokers say to it."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client.admin import AdminClient
from nsadmin.client.pictures import Picture, of_each
from nsadmin.client.results import ServerResult, is_not_found, is_unreachable
from nsadmin.client.topic_configs import TopicConfig
from nsadmin.operations.divergence.causes import BrokerFacts, Facts, Scene, cause_of
from nsadmin.operations.divergence.comparing import SECTIONS, Comparison, Value, compare
from nsadmin.operations.divergence.findings import (
    PATIENCE,
    Ages,
    Bundle,
    Finding,
    Verdict,
    bundles,
    findings,
    verdict,
)

_TOPICS_ASKED = 32
"""Topics that brokers are asked for their own idea of, at each look."""
_AGAIN = 10_000
"""ms from one look to the next, while it is not clear what drift is."""


class Look(NamedTuple):
    """What one look came to: what each name server answered, how those that did differ, and the verdict."""

    answers: tuple[ServerResult[Picture], ...]
    comparison: Comparison
    findings: tuple[Finding, ...]
    verdict: Verdict

    @property
    def pictures(self) -> list[Picture]:
        """Of those that answered."""
        return [answer.result for answer in self.answers if answer.result is not None]


class Looking:
    """Looks that remember each other, and so know how old a difference is.

    `settle` is how many ms brokers may take until name servers are equal; `clock` is steady, in ms. KV
    namespaces cannot be listed by name servers: that of order configurations is compared, and `namespaces`.
    """

    def __init__(
        self,
        admin: AdminClient,
        clock: Callable[[], int],
        *,
        namespaces: Sequence[str] = (),
        sections: Collection[str] = SECTIONS,
        settle: int = PATIENCE,
    ) -> None:
        self._admin = admin
        self._clock = clock
        self._namespaces = tuple(namespaces)
        self._sections = sections
        self._ages = Ages(settle)
        self._end: int | None = None
        self._settle = settle

    def look(self) -> Look:
        """One look, with what earlier ones of this have seen; brokers that differ are asked why."""
        now, seen = self._clock(), of_each(self._admin, 0, self._namespaces)
        answers = self._admin.tables.witnesses(seen)
        pictures = [answer.result for answer in answers if answer.result is not None]
        comparison = compare(pictures, self._sections)
        self._ages.observe(comparison, now)
        told = bundles(comparison)
        scene = Scene(pictures, gather(self._admin, told, pictures))
        found = findings(told, comparison, self._ages, now, lambda one: cause_of(one, scene))
        result = verdict(len(answers), len(pictures), found)
        return Look(tuple(answers), comparison, tuple(found), result)

    def judge(self, pause: Callable[[float], object], waiting: Callable[[Look, float], None]) -> Look:
        """Look until each difference has gone or has proved to be drift, or is younger than the first look.

        Who pauses does so for the seconds he is told; `waiting` is told once of what is not clear yet, and
        for how many seconds at most it may take.
        """
        begun = self._clock()
        look = self.look()
        is_told = False
        while (now := self._clock()) < begun + self._settle and (left := self._ages.undecided(now)):
            rest = min(max(left), begun + self._settle - now)
            if not is_told:
                waiting(look, rest / 1000)
                is_told = True
            pause(min(rest, min(left), _AGAIN) / 1000)
            look = self.look()
        return look


def gather(admin: AdminClient, told: Sequence[Bundle], pictures: Sequence[Picture]) -> Facts:
    """What brokers say to these differences, each asked once; of one that is silent, that it is."""
    scene = Scene(pictures, {})
    wanted: dict[str, list[str]] = {}
    for bundle in told:
        item = bundle[0].item
        if item.what == "broker":
            for addr in scene.addrs_of(item.name):
                wanted.setdefault(addr, [])
        elif item.what == "topic" and item.place:
            # The master, or who is nearest to it.
            for addr in scene.addrs_of(item.place)[:1]:
                wanted.setdefault(addr, []).append(item.name)
    left = _TOPICS_ASKED
    facts: dict[str, BrokerFacts] = {}
    for addr, config, error in admin.broker_configs.each(wanted) if wanted else ():
        if config is None:
            facts[addr] = BrokerFacts(not is_unreachable(error))
            continue
        topics, left = wanted[addr][:left], left - len(wanted[addr][:left])
        own = {topic: _own(admin, addr, topic, config) for topic in topics}
        facts[addr] = BrokerFacts(
            True,
            _names(config.get("namesrvAddr")),
            {topic: value for topic, (value, is_told) in own.items() if is_told},
        )
    return facts


def _names(text: str | None) -> tuple[str, ...] | None:
    """The name servers that a broker's configuration names; None where it finds them in another way."""
    names = tuple(name for part in (text or "").split(";") if (name := part.strip()))
    return names if names and names != ("null",) else None


def _own(admin: AdminClient, addr: str, topic: str, config: dict[str, str]) -> tuple[Value | None, bool]:
    """How a broker would register a topic, None for one that it does not have; and whether it said."""
    [found] = admin.topic_configs.each([addr], topic)
    if found.result is not None:
        return _registered(found.result, config), True
    error: RocketMQError | None = found.error
    return None, is_not_found(error)


def _registered(topic: TopicConfig, config: dict[str, str]) -> Value:
    """What a broker registers of a topic: no more permission than it has itself (`brokerPermission`)."""
    permission = config.get("brokerPermission", "6")
    allowed = int(permission) if permission.isdigit() else 6
    return {
        "readQueueNums": topic.read_queue_nums,
        "writeQueueNums": topic.write_queue_nums,
        # BrokerController#registerBrokerAll: one that allows all leaves other bits alone.
        "perm": topic.perm if allowed & 6 == 6 else topic.perm & allowed,
        "topicSysFlag": topic.topic_sys_flag,
    }
