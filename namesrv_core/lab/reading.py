"""Scenarios from YAML: all that is wrong with a file is found at once, each in one line."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab.scenario import KINDS, Fault, Scenario, matching

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_USUAL = {"restart": 10.0, "restartNamesrv": 5.0}


class BadScenario(RocketMQError):
    """A scenario that cannot be played; each of its lines says file, key and what is allowed."""


class Wrong(ValueError):
    """What a value has to be, in words."""


def duration(value: object) -> float:
    """Seconds of a number, or of a text such as 1h30m; Wrong."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    found = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if found is None:
        raise Wrong("has to be seconds or a time such as 90s, 5m, 1h30m")
    hours, minutes, seconds = found.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds or 0)


def _count(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Wrong(f"has to be a whole number in {least}..{most}")
        return value

    return read


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong("has to be a number")
    return float(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Wrong("has to be true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Wrong("has to be a text")
    return value


def _one_of(*choices: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in choices:
            raise Wrong(f"has to be one of {', '.join(choices)}")
        return str(value)

    return read


def _names(value: object) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(name, str) and name for name in found):
        raise Wrong("has to be a name, or a list of names; * stands for any letters")
    return tuple(found)


def _moment(value: object) -> int:
    """YAML reads a time with its date by itself."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, datetime):
        raise Wrong("has to be a time such as 2026-01-05T08:00:00Z")
    return round((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)


class _Key(NamedTuple):
    name: str
    read: Callable[[Any], Any]


_TOP = {
    "about": _Key("about", _text),
    "seed": _Key("seed", _count(0, 2**31)),
    "start": _Key("start", _moment),
    "duration": _Key("duration", duration),
    "namesrvs": _Key("namesrvs", _count(1, 9)),
    "fleet": _Key("fleet", lambda value: value),
    "faults": _Key("faults", lambda value: value),
    "settings": _Key("settings", lambda value: value),
}
_SETTINGS = {
    "orderMessageEnable": _Key("orderMessageEnable", _flag),
    "needWaitForService": _Key("needWaitForService", _flag),
    "waitSecondsForService": _Key("waitSecondsForService", _count(0, 3600)),
}
_FLEET = {
    "clusters": _Key("clusters", _count(1, 100)),
    "groups": _Key("groups", _count(1, 1000)),
    "replicas": _Key("replicas", _count(1, 10)),
    "topics": _Key("topics", _count(1, 10_000)),
    "actingMaster": _Key("acting", _flag),
    "autoCreateTopics": _Key("auto_create", _flag),
    "traffic": _Key("traffic", _number),
}
_FAULT = {
    "at": _Key("at", duration),
    "fault": _Key("kind", _one_of(*KINDS)),
    "brokers": _Key("brokers", _names),
    "namesrvs": _Key("namesrvs", _names),
    "for": _Key("lasts", duration),
    "times": _Key("times", _count(1, 1000)),
    "every": _Key("every", duration),
    "stagger": _Key("stagger", duration),
    "address": _Key("address", _one_of("same", "new")),
    "cluster": _Key("cluster", _text),
    "count": _Key("number", _count(1, 10_000)),
    "delay": _Key("delay", duration),
    "queues": _Key("queues", _count(1, 1024)),
    "registration": _Key("registration", _one_of("incremental", "all", "split")),
    "seconds": _Key("seconds", _number),
    "topic": _Key("topic", _text),
    "key": _Key("key", _text),
    "value": _Key("value", lambda value: _text(str(value))),
}


class _Reader:
    """Collects what is wrong with one file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.mistakes: list[str] = []

    def wrong(self, key: str, text: str) -> None:
        self.mistakes.append(f"{self._file}: {key} {text}")

    def values(self, where: str, value: object, keys: Mapping[str, _Key]) -> dict[str, Any]:
        """The values of a map by their names in records."""
        if not isinstance(value, dict):
            self.wrong(where.rstrip(".") or "it", f"has to be a map of {', '.join(keys)}")
            return {}
        found = {}
        for name, item in value.items():
            key = keys.get(name)
            if key is None:
                self.wrong(f"{where}{name}", f"is unknown; there are: {', '.join(sorted(keys))}")
                continue
            try:
                found[key.name] = key.read(item)
            except Wrong as error:
                self.wrong(f"{where}{name}", str(error))
        return found

    def faults(self, value: object) -> Iterator[Fault]:
        if not isinstance(value, list):
            self.wrong("faults", "has to be a list")
            return
        for number, item in enumerate(value):
            fault = self.fault(f"faults[{number}].", item)
            if fault is not None:
                yield fault

    def fault(self, where: str, item: object) -> Fault | None:
        kind = KINDS.get(item["fault"]) if isinstance(item, dict) and _is_name(item.get("fault")) else None
        if not isinstance(item, dict) or kind is None:
            self.values(where, item, _FAULT)
            if isinstance(item, dict) and "fault" not in item:
                self.wrong(f"{where}fault", f"is missing: one of {', '.join(KINDS)}")
            return None
        before = len(self.mistakes)
        for missing in sorted((kind.required | {"at"}) - item.keys()):
            self.wrong(f"{where}{missing}", f"is missing: {item['fault']} needs it")
        found = self.values(where, item, {key: _FAULT[key] for key in _FAULT if key in kind.allowed})
        if found.get("times", 1) > 1 and not found.get("every"):
            self.wrong(f"{where}every", "is missing: times needs it")
        if item["fault"] == "skew" and ("brokers" in item) == ("namesrvs" in item):
            self.wrong(f"{where}brokers", "or namesrvs has to be there: whose clocks are set")
        if "lasts" in found and not found["lasts"]:
            self.wrong(f"{where}for", "has to be more than 0")
        if len(self.mistakes) > before:
            return None
        if found["kind"] == "skew":
            found["brokers"], found["namesrvs"] = found.get("brokers", ()), found.get("namesrvs", ())
        return Fault(**{"lasts": _USUAL.get(found["kind"], 0.0), **found})

    def targets(self, scenario: Scenario) -> None:
        """Every pattern has to mean somebody."""
        brokers = [f"{spec.broker_name}:{spec.broker_id}" for spec in scenario.specs()]
        for number, fault in enumerate(scenario.faults):
            for key, patterns, names in (
                ("brokers", fault.brokers, brokers),
                ("namesrvs", fault.namesrvs, scenario.servers()),
            ):
                for pattern in patterns:
                    if not matching((pattern,), names):
                        few = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
                        self.wrong(
                            f"faults[{number}].{key}", f"means nobody with {pattern}; there are: {few}"
                        )
            if fault.at > scenario.duration:
                self.wrong(f"faults[{number}].at", f"comes after the end at {scenario.duration:g} s")


def _is_name(value: object) -> bool:
    return isinstance(value, str)


def parse(text: str, file: str, name: str) -> Scenario:
    """The scenario that a YAML text has. BadScenario, with a line for each mistake."""
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise BadScenario(f"{file}: it is no YAML{where}") from None
    reader = _Reader(file)
    top = reader.values("", content, _TOP)
    fleet = reader.values("fleet.", top.pop("fleet", {}), _FLEET)
    seed = top.pop("seed", FleetPlan().seed)
    sizes = {key: fleet.pop(key) for key in list(fleet) if key in FleetPlan._fields}
    plan = Scenario(name).plan._replace(seed=seed, **sizes)
    faults = tuple(reader.faults(top.pop("faults", [])))
    settings = reader.values("settings.", top.pop("settings", {}), _SETTINGS)
    scenario = Scenario(name, plan=plan, faults=faults, settings=settings, **fleet, **top)
    reader.targets(scenario)
    if reader.mistakes:
        raise BadScenario("\n".join(reader.mistakes))
    return scenario


_FOLDER = resources.files("namesrv_core.lab") / "scenarios"


def names() -> list[str]:
    """What the scenarios are called that come with the program, in order; none is read."""
    return sorted(
        file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml")
    )


def built_in() -> dict[str, Scenario]:
    """The scenarios that come with the program, by name."""
    return {
        name: parse((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml", name)
        for name in names()
    }


def load(given: str) -> Scenario:
    """A built-in scenario by its name, any other by its file. BadScenario."""
    known = built_in()
    if given in known:
        return known[given]
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadScenario(
            f"there is no file {given}, and no such scenario; there are: {', '.join(known)}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadScenario(f"{given} cannot be read: {error}") from None
    return parse(text, given, path.stem)
