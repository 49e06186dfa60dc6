"""Reads scenarios from YAML, and reports all mistakes of a file at once, one per line."""

import math
import pathlib
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from importlib import resources
from typing import Any

from namesrv_core import durations, operator_files
from namesrv_core.errors import RocketMQError
from namesrv_core.file_shapes import (
    INVALID,
    Choice,
    Decimal,
    Field,
    FileStyle,
    Flag,
    InvalidValue,
    ListOf,
    Parsed,
    Path,
    Record,
    Shape,
    ShapeReader,
    WholeNumber,
)
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab.scenario import FAULT_KINDS, Fault, Scenario, match_names

_DEFAULT_FAULT_SECONDS = {"restart": 10.0, "restartNamesrv": 5.0}


class InvalidScenarioError(RocketMQError):
    """An invalid scenario. Each line of the message has the file, the key and the allowed values."""


def parse_duration(value: object) -> float:
    """Parse a number of seconds, or a text such as 1h30m, into seconds. Raises InvalidValue."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    seconds = durations.parse_duration(value) if isinstance(value, str) else None
    if seconds is None:
        raise InvalidValue("must be seconds or a time such as 90s, 5m, 1h30m")
    return seconds


def _parse_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue("must be a text")
    return value


def _parse_names(value: object) -> tuple[str, ...]:
    name_list = value if isinstance(value, list) else [value]
    if not name_list or not all(isinstance(name, str) and name for name in name_list):
        raise InvalidValue("must be a name or a list of names, with * for any characters")
    return tuple(name_list)


def _parse_moment(value: object) -> int:
    """Parse a time into ms since 1970. YAML itself parses a time with its date."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, datetime):
        raise InvalidValue("must be a time such as 2026-01-05T08:00:00Z")
    return round((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)


class _ScenarioStyle(FileStyle):
    def place(self, path: Path) -> str:
        return super().place(path) or "the file"

    def not_a_map(self, value: Any, known_keys: Iterable[str]) -> str:
        return f"must be a map of {', '.join(known_keys)}"

    def unknown_key(self, path: Path, known_keys: Collection[str]) -> str:
        return f"{self.place(path)} is unknown: use one of {', '.join(sorted(known_keys))}"


def _count(minimum: int, maximum: int) -> WholeNumber:
    return WholeNumber(minimum, maximum, f"a whole number in {minimum}..{maximum}")


class _FaultShape(Shape):
    """A fault, whose kind decides which keys it has."""

    def read(self, value: Any, path: Path, reader: ShapeReader) -> Any:
        kind_name = value.get("fault") if isinstance(value, dict) else None
        if not isinstance(kind_name, str) or kind_name not in FAULT_KINDS:
            Record(_FAULT_FIELDS).read(value, path, reader)
            if isinstance(value, dict) and "fault" not in value:
                reader.refuse((*path, "fault"), f"is missing: use one of {', '.join(FAULT_KINDS)}")
            return INVALID
        kind = FAULT_KINDS[kind_name]
        mistakes_before = len(reader.mistakes)
        for key in sorted((kind.required_keys | {"at"}) - value.keys()):
            reader.refuse((*path, key), f"is missing: {kind_name} requires it")
        fields = Record(field for field in _FAULT_FIELDS if field.key in kind.allowed_keys)
        values = fields.read(value, path, reader)
        if values.get("times", 1) > 1 and not values.get("every"):
            reader.refuse((*path, "every"), "is missing: times requires it")
        if kind_name == "skew" and ("brokers" in value) == ("namesrvs" in value):
            reader.refuse((*path, "brokers"), "is missing: skew requires brokers or namesrvs, not both")
        if "lasts" in values and not values["lasts"]:
            reader.refuse((*path, "for"), "must be greater than 0")
        if len(reader.mistakes) > mistakes_before:
            return INVALID
        if kind_name == "skew":
            values = {"brokers": (), "namesrvs": (), **values}
        return Fault(**{"lasts": _DEFAULT_FAULT_SECONDS.get(kind_name, 0.0), **values})


_TEXT = Parsed(_parse_text)
_DURATION = Parsed(parse_duration)
_NAMES = Parsed(_parse_names)
_NUMBER = Decimal(-math.inf, math.inf, "a number")
_FAULT_FIELDS = (
    Field("at", _DURATION),
    Field("fault", Choice(FAULT_KINDS), attribute="kind"),
    Field("brokers", _NAMES),
    Field("namesrvs", _NAMES),
    Field("for", _DURATION, attribute="lasts"),
    Field("times", _count(1, 1000)),
    Field("every", _DURATION),
    Field("stagger", _DURATION),
    Field("address", Choice(("same", "new"))),
    Field("cluster", _TEXT),
    Field("count", _count(1, 10_000), attribute="number"),
    Field("delay", _DURATION),
    Field("queues", _count(1, 1024)),
    Field("registration", Choice(("incremental", "all", "split"))),
    Field("seconds", _NUMBER),
    Field("topic", _TEXT),
    Field("key", _TEXT),
    Field("value", Parsed(lambda value: _parse_text(str(value)))),
)
_FLEET = Record(
    (
        Field("clusters", _count(1, 100)),
        Field("groups", _count(1, 1000)),
        Field("replicas", _count(1, 10)),
        Field("topics", _count(1, 10_000)),
        Field("actingMaster", Flag(), attribute="acting"),
        Field("autoCreateTopics", Flag(), attribute="auto_create"),
        Field("traffic", _NUMBER),
    )
)
_SETTINGS = Record(
    (
        Field("orderMessageEnable", Flag()),
        Field("needWaitForService", Flag()),
        Field("waitSecondsForService", _count(0, 3600)),
    )
)
_SCENARIO = Record(
    (
        Field("about", _TEXT),
        Field("seed", _count(0, 2**31)),
        Field("start", Parsed(_parse_moment)),
        Field("duration", _DURATION),
        Field("namesrvs", _count(1, 9)),
        Field("fleet", _FLEET),
        Field("faults", ListOf(_FaultShape(), "a list")),
        Field("settings", _SETTINGS),
    )
)


def _find_bad_targets(scenario: Scenario) -> Iterator[tuple[Path, str]]:
    """Patterns without a match, and faults that begin after the end."""
    broker_names = [f"{spec.broker_name}:{spec.broker_id}" for spec in scenario.initial_specs()]
    for index, fault in enumerate(scenario.faults):
        for key, patterns, known_names in (
            ("brokers", fault.brokers, broker_names),
            ("namesrvs", fault.namesrvs, scenario.server_names()),
        ):
            for pattern in patterns:
                if not match_names((pattern,), known_names):
                    first_names = ", ".join(known_names[:6]) + (", ..." if len(known_names) > 6 else "")
                    yield (
                        ("faults", index, key),
                        f'has a pattern without a match, "{pattern}": use one of {first_names}',
                    )
        if fault.at > scenario.duration:
            yield ("faults", index, "at"), f"is after the end of the scenario at {scenario.duration:g} s"


def parse_scenario(yaml_text: str, file_name: str, scenario_name: str) -> Scenario:
    """Parse a scenario in YAML. Raises InvalidScenarioError, with a line for each mistake."""
    try:
        content = operator_files.YamlDocument(yaml_text).value
    except operator_files.InvalidYaml as error:
        line = f", line {error.line}" if error.line else ""
        raise InvalidScenarioError(f"{file_name}: invalid YAML{line}") from None
    reader = ShapeReader(_ScenarioStyle())
    values = _SCENARIO.read(content, (), reader)
    fleet_values = values.pop("fleet", {})
    plan_values = {"seed": values.pop("seed", FleetPlan().seed)}
    plan_values |= {size: fleet_values.pop(size) for size in FleetPlan._fields if size in fleet_values}
    faults = values.pop("faults", ())
    if not reader.mistakes:
        plan = Scenario(scenario_name).plan._replace(**plan_values)
        scenario = Scenario(scenario_name, plan=plan, faults=faults, **fleet_values, **values)
        for path, problem in _find_bad_targets(scenario):
            reader.refuse(path, problem)
    if reader.mistakes:
        raise InvalidScenarioError("\n".join(f"{file_name}: {mistake.text}" for mistake in reader.mistakes))
    return scenario


_SCENARIO_FOLDER = resources.files("namesrv_core.lab") / "scenarios"


def list_scenario_names() -> list[str]:
    """List the names of the built-in scenarios, sorted, without reading the files."""
    return sorted(
        file.name.removesuffix(".yaml") for file in _SCENARIO_FOLDER.iterdir() if file.name.endswith(".yaml")
    )


def load_built_in_scenarios() -> dict[str, Scenario]:
    return {
        scenario_name: parse_scenario(
            (_SCENARIO_FOLDER / f"{scenario_name}.yaml").read_text(encoding="utf-8"),
            f"{scenario_name}.yaml",
            scenario_name,
        )
        for scenario_name in list_scenario_names()
    }


def load_scenario(name_or_path: str) -> Scenario:
    """Load a built-in scenario by name, or another one from its file. Raises InvalidScenarioError."""
    built_in_scenarios = load_built_in_scenarios()
    if name_or_path in built_in_scenarios:
        return built_in_scenarios[name_or_path]
    scenario_path = pathlib.Path(name_or_path)
    try:
        yaml_text = operator_files.read_text(
            scenario_path, max_characters=operator_files.MAX_CONFIG_CHARACTERS
        )
    except FileNotFoundError:
        raise InvalidScenarioError(
            f'unknown scenario "{name_or_path}": use a YAML file or one of {", ".join(built_in_scenarios)}'
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidScenarioError(operator_files.explain_unreadable(name_or_path, error)) from None
    return parse_scenario(yaml_text, name_or_path, scenario_path.stem)
