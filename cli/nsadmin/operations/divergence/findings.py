"""Findings: differences that are alike as one, with their age and cause, and what they come to. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.client.secrecy import is_secret
from nsadmin.operations.divergence.causes import Cause
from nsadmin.operations.divergence.comparing import Comparison, Difference, Item

HEARTBEAT = 30_000
"""ms from one registration of a broker to the next (registerNameServerPeriod)."""
PATIENCE = 2 * HEARTBEAT
"""ms in which brokers make name servers equal, if anything does."""
MOMENT = 2_000
"""ms in which a command writes to all of them what no broker tells: KV config and settings."""

State = Literal["new", "drift"]
Verdict = Literal["agree", "converging", "diverge", "partial", "unknown"]


class Finding(NamedTuple):
    """Things that differ in the same way, for the same reason: `differences` of one `what`.

    `place` is what all of them are within, "" where they are not. `age` is for how many ms at least the first
    of them has been seen. `implied` are topics that differ only because this broker does.
    """

    what: str
    place: str
    differences: tuple[Difference, ...]
    state: State
    age: int
    cause: Cause
    implied: tuple[Difference, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name_of(difference.item) for difference in self.differences)


def name_of(item: Item) -> str:
    """A thing as it is called: `broker-a:0`, a topic, `NAMESPACE KEY`, a setting."""
    if item.what == "broker":
        return f"{item.name}:{item.place}"
    return f"{item.place} {item.name}" if item.what == "kv" else item.name


class Ages:
    """Since when each difference has been seen; brokers may take `settle` ms to make all equal."""

    def __init__(self, settle: int = PATIENCE) -> None:
        self._settle = settle
        self._since: dict[Item, int] = {}

    def observe(self, comparison: Comparison, now: int) -> None:
        """A look at `now` (ms, steady): what does not differ any more is forgotten."""
        self._since = {
            difference.item: self._since.get(difference.item, now) for difference in comparison.differences
        }

    def age(self, item: Item, now: int) -> int:
        return now - self._since.get(item, now)

    def state(self, item: Item, now: int) -> State:
        """Whether it is older than what makes name servers equal by itself takes."""
        return "drift" if self.left(item, now) <= 0 else "new"

    def left(self, item: Item, now: int) -> int:
        """ms until it counts as drift; 0 or less if it does."""
        patience = self._settle if item.what in ("broker", "topic") else min(self._settle, MOMENT)
        return patience - self.age(item, now)

    def undecided(self, now: int) -> list[int]:
        """What is left to each difference that is no drift yet."""
        return [left for item in self._since if (left := self.left(item, now)) > 0]


Bundle = tuple[Difference, ...]


def bundles(comparison: Comparison) -> list[Bundle]:
    """Topics of a broker, and keys of a namespace, that differ in the same way; all else by itself."""
    found: dict[tuple[Any, ...], list[Difference]] = {}
    for at, difference in enumerate(comparison.differences):
        item = difference.item
        alone = at if item.what in ("broker", "setting") else -1
        shape = (item.what, item.place, alone, difference.missing, difference.fields)
        found.setdefault(_hashable(shape), []).append(difference)
    return [tuple(each) for each in found.values()]


def _hashable(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*shape[:4], repr(shape[4]))


def findings(
    told: Iterable[Bundle],
    comparison: Comparison,
    ages: Ages,
    now: int,
    cause_of: Callable[[Difference], Cause],
) -> list[Finding]:
    """The cause of each bundle's first, and bundles of brokers with one cause as one."""
    found: dict[tuple[Any, ...], Finding] = {}
    for bundle in told:
        cause = cause_of(bundle[0])
        for state in ("drift", "new"):
            part = tuple(one for one in bundle if ages.state(one.item, now) == state)
            if part:
                _add(found, part, state, max(ages.age(one.item, now) for one in part), cause)
    implied = dict(comparison.implied)
    return [_with_implied(finding, implied) for finding in found.values()]


def _add(found: dict[tuple[Any, ...], Finding], part: Bundle, state: State, age: int, cause: Cause) -> None:
    first = part[0]
    what = first.item.what
    place = first.item.place if what in ("topic", "kv") else ""
    key = (what, place, state, first.missing, repr(first.fields), cause.text)
    known = found.get(key)
    if known is None:
        found[key] = Finding(what, place, part, state, age, cause)
    else:
        found[key] = known._replace(differences=known.differences + part, age=max(known.age, age))


def _with_implied(finding: Finding, implied: dict[str, Bundle]) -> Finding:
    """The topics of these brokers stand with the first finding about them."""
    if finding.what != "broker":
        return finding
    names = dict.fromkeys(one.item.name for one in finding.differences if one.missing)
    topics = tuple(topic for name in names for topic in implied.pop(name, ()))
    return finding._replace(implied=topics)


def verdict(asked: int, answered: int, found: Sequence[Finding]) -> Verdict:
    """What it comes to; one name server alone agrees with nobody."""
    if answered < 2:
        return "unknown"
    if any(finding.state == "drift" for finding in found):
        return "diverge"
    if answered < asked:
        return "partial"
    return "converging" if found else "agree"


def in_words(difference: Difference, servers: Sequence[str]) -> str:
    """How they differ, on one line: `perm: rw- on h:1, r-- on h:2`; `not on h:2`."""
    parts = []
    difference = _secrets(difference)
    if difference.missing:
        knowing = [at for at in range(len(servers)) if at not in difference.missing]
        parts.append(f"on {_listed(knowing, servers)}, not on {_listed(difference.missing, servers)}")
    for name, values in difference.fields:
        by_value: dict[str, list[int]] = {}
        for at, value in enumerate(values):
            if at not in difference.missing:
                by_value.setdefault(_shown(name, value), []).append(at)
        told = ", ".join(f"{text} on {_listed(places, servers)}" for text, places in by_value.items())
        parts.append(f"{name}: {told}" if name else told)
    return "; ".join(parts)


def _listed(places: Iterable[int], servers: Sequence[str]) -> str:
    return " ".join(servers[at] for at in places)


def _secrets(difference: Difference) -> Difference:
    """With words instead of texts that may be secrets: whether they are equal can be seen."""
    if difference.item.what not in ("kv", "setting") or not is_secret(difference.item.name):
        return difference
    known = list(dict.fromkeys(value for value in difference.values if isinstance(value, str)))
    hidden = tuple(
        f"secret {known.index(value) + 1}" if isinstance(value, str) else None for value in difference.values
    )
    return difference._replace(values=hidden)


def _shown(name: str, value: object) -> str:
    if name == "perm" and isinstance(value, int):
        return perm_text(value)
    return "nothing" if value is None else str(value) or "''"


def by_server(difference: Difference, servers: Sequence[str]) -> Mapping[str, Any]:
    """What each name server knows of it."""
    return dict(zip(servers, _secrets(difference).values, strict=True))
