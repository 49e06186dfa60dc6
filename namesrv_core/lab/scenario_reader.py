"""Reads scenarios from YAML, and reports all mistakes of a file at once, one per line."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.lab.scenario import FAULT_KINDS, Fault, Scenario, match_names

_DURATION_PATTERN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")
_DEFAULT_FAULT_SECONDS = {"restart": 10.0, "restartNamesrv": 5.0}


class InvalidScenarioError(RocketMQError):
    """An invalid scenario. Each line of the message has the file, the key and the allowed values."""


class InvalidScenarioValue(ValueError):
    """An invalid value. The message says what the value must be."""


def parse_duration(value: object) -> float:
    """Parse a number of seconds, or a text such as 1h30m, into seconds. Raises InvalidScenarioValue."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
        return float(value)
    duration_match = _DURATION_PATTERN.fullmatch(value) if isinstance(value, str) and value else None
    if duration_match is None:
        raise InvalidScenarioValue("must be seconds or a time such as 90s, 5m, 1h30m")
    hours, minutes, seconds = duration_match.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds or 0)


def _bounded_count(minimum: int, maximum: int) -> Callable[[object], int]:
    def parse_count(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise InvalidScenarioValue(f"must be a whole number in {minimum}..{maximum}")
        return value

    return parse_count


def _parse_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidScenarioValue("must be a number")
    return float(value)


def _parse_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidScenarioValue("must be true or false")
    return value


def _parse_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidScenarioValue("must be a text")
    return value


def _choice_of(*choices: str) -> Callable[[object], str]:
    def parse_choice(value: object) -> str:
        if value not in choices:
            raise InvalidScenarioValue(f"must be one of {', '.join(choices)}")
        return str(value)

    return parse_choice


def _parse_names(value: object) -> tuple[str, ...]:
    name_list = value if isinstance(value, list) else [value]
    if not name_list or not all(isinstance(name, str) and name for name in name_list):
        raise InvalidScenarioValue("must be a name or a list of names, with * for any characters")
    return tuple(name_list)


def _parse_moment(value: object) -> int:
    """Parse a time into ms since 1970. YAML itself parses a time with its date."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if not isinstance(value, datetime):
        raise InvalidScenarioValue("must be a time such as 2026-01-05T08:00:00Z")
    return round((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)


class _ScenarioKey(NamedTuple):
    field_name: str
    parse_value: Callable[[Any], Any]


_TOP_KEYS = {
    "about": _ScenarioKey("about", _parse_text),
    "seed": _ScenarioKey("seed", _bounded_count(0, 2**31)),
    "start": _ScenarioKey("start", _parse_moment),
    "duration": _ScenarioKey("duration", parse_duration),
    "namesrvs": _ScenarioKey("namesrvs", _bounded_count(1, 9)),
    "fleet": _ScenarioKey("fleet", lambda value: value),
    "faults": _ScenarioKey("faults", lambda value: value),
    "settings": _ScenarioKey("settings", lambda value: value),
}
_SETTING_KEYS = {
    "orderMessageEnable": _ScenarioKey("orderMessageEnable", _parse_flag),
    "needWaitForService": _ScenarioKey("needWaitForService", _parse_flag),
    "waitSecondsForService": _ScenarioKey("waitSecondsForService", _bounded_count(0, 3600)),
}
_FLEET_KEYS = {
    "clusters": _ScenarioKey("clusters", _bounded_count(1, 100)),
    "groups": _ScenarioKey("groups", _bounded_count(1, 1000)),
    "replicas": _ScenarioKey("replicas", _bounded_count(1, 10)),
    "topics": _ScenarioKey("topics", _bounded_count(1, 10_000)),
    "actingMaster": _ScenarioKey("acting", _parse_flag),
    "autoCreateTopics": _ScenarioKey("auto_create", _parse_flag),
    "traffic": _ScenarioKey("traffic", _parse_number),
}
_FAULT_KEYS = {
    "at": _ScenarioKey("at", parse_duration),
    "fault": _ScenarioKey("kind", _choice_of(*FAULT_KINDS)),
    "brokers": _ScenarioKey("brokers", _parse_names),
    "namesrvs": _ScenarioKey("namesrvs", _parse_names),
    "for": _ScenarioKey("lasts", parse_duration),
    "times": _ScenarioKey("times", _bounded_count(1, 1000)),
    "every": _ScenarioKey("every", parse_duration),
    "stagger": _ScenarioKey("stagger", parse_duration),
    "address": _ScenarioKey("address", _choice_of("same", "new")),
    "cluster": _ScenarioKey("cluster", _parse_text),
    "count": _ScenarioKey("number", _bounded_count(1, 10_000)),
    "delay": _ScenarioKey("delay", parse_duration),
    "queues": _ScenarioKey("queues", _bounded_count(1, 1024)),
    "registration": _ScenarioKey("registration", _choice_of("incremental", "all", "split")),
    "seconds": _ScenarioKey("seconds", _parse_number),
    "topic": _ScenarioKey("topic", _parse_text),
    "key": _ScenarioKey("key", _parse_text),
    "value": _ScenarioKey("value", lambda value: _parse_text(str(value))),
}


class _ScenarioReader:
    """Reads one file and collects its mistakes."""

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self.mistakes: list[str] = []

    def add_mistake(self, key_path: str, mistake_text: str) -> None:
        self.mistakes.append(f"{self._file_name}: {key_path} {mistake_text}")

    def read_map(
        self, path_prefix: str, yaml_value: object, known_keys: Mapping[str, _ScenarioKey]
    ) -> dict[str, Any]:
        """The values of a map by the field names of records."""
        if not isinstance(yaml_value, dict):
            self.add_mistake(
                path_prefix.rstrip(".") or "the file", f"must be a map of {', '.join(known_keys)}"
            )
            return {}
        field_values = {}
        for key_name, key_value in yaml_value.items():
            scenario_key = known_keys.get(key_name)
            if scenario_key is None:
                self.add_mistake(
                    f"{path_prefix}{key_name}", f"is unknown: use one of {', '.join(sorted(known_keys))}"
                )
                continue
            try:
                field_values[scenario_key.field_name] = scenario_key.parse_value(key_value)
            except InvalidScenarioValue as error:
                self.add_mistake(f"{path_prefix}{key_name}", str(error))
        return field_values

    def read_faults(self, yaml_value: object) -> Iterator[Fault]:
        if not isinstance(yaml_value, list):
            self.add_mistake("faults", "must be a list")
            return
        for fault_index, fault_item in enumerate(yaml_value):
            fault = self.read_fault(f"faults[{fault_index}].", fault_item)
            if fault is not None:
                yield fault

    def read_fault(self, path_prefix: str, fault_item: object) -> Fault | None:
        fault_kind = (
            FAULT_KINDS.get(fault_item["fault"])
            if isinstance(fault_item, dict) and _is_text(fault_item.get("fault"))
            else None
        )
        if not isinstance(fault_item, dict) or fault_kind is None:
            self.read_map(path_prefix, fault_item, _FAULT_KEYS)
            if isinstance(fault_item, dict) and "fault" not in fault_item:
                self.add_mistake(f"{path_prefix}fault", f"is missing: use one of {', '.join(FAULT_KINDS)}")
            return None
        mistakes_before = len(self.mistakes)
        for missing_key in sorted((fault_kind.required_keys | {"at"}) - fault_item.keys()):
            self.add_mistake(f"{path_prefix}{missing_key}", f"is missing: {fault_item['fault']} requires it")
        field_values = self.read_map(
            path_prefix,
            fault_item,
            {
                key_name: _FAULT_KEYS[key_name]
                for key_name in _FAULT_KEYS
                if key_name in fault_kind.allowed_keys
            },
        )
        if field_values.get("times", 1) > 1 and not field_values.get("every"):
            self.add_mistake(f"{path_prefix}every", "is missing: times requires it")
        if fault_item["fault"] == "skew" and ("brokers" in fault_item) == ("namesrvs" in fault_item):
            self.add_mistake(
                f"{path_prefix}brokers", "is missing: skew requires brokers or namesrvs, not both"
            )
        if "lasts" in field_values and not field_values["lasts"]:
            self.add_mistake(f"{path_prefix}for", "must be greater than 0")
        if len(self.mistakes) > mistakes_before:
            return None
        if field_values["kind"] == "skew":
            field_values["brokers"], field_values["namesrvs"] = (
                field_values.get("brokers", ()),
                field_values.get("namesrvs", ()),
            )
        return Fault(**{"lasts": _DEFAULT_FAULT_SECONDS.get(field_values["kind"], 0.0), **field_values})

    def check_targets(self, scenario: Scenario) -> None:
        """Check that patterns match, and that no fault begins after the end."""
        broker_names = [
            f"{broker_spec.broker_name}:{broker_spec.broker_id}" for broker_spec in scenario.initial_specs()
        ]
        for fault_index, fault in enumerate(scenario.faults):
            for key_name, patterns, known_names in (
                ("brokers", fault.brokers, broker_names),
                ("namesrvs", fault.namesrvs, scenario.server_names()),
            ):
                for pattern in patterns:
                    if not match_names((pattern,), known_names):
                        first_names = ", ".join(known_names[:6]) + (", ..." if len(known_names) > 6 else "")
                        self.add_mistake(
                            f"faults[{fault_index}].{key_name}",
                            f'has a pattern without a match, "{pattern}": use one of {first_names}',
                        )
            if fault.at > scenario.duration:
                self.add_mistake(
                    f"faults[{fault_index}].at",
                    f"is after the end of the scenario at {scenario.duration:g} s",
                )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def parse_scenario(yaml_text: str, file_name: str, scenario_name: str) -> Scenario:
    """Parse a scenario in YAML. Raises InvalidScenarioError, with a line for each mistake."""
    import yaml

    try:
        yaml_value = operator_files.parse_yaml(yaml_text)
    except yaml.YAMLError as error:
        problem_mark = getattr(error, "problem_mark", None)
        line_hint = f", line {problem_mark.line + 1}" if problem_mark else ""
        raise InvalidScenarioError(f"{file_name}: invalid YAML{line_hint}") from None
    scenario_reader = _ScenarioReader(file_name)
    top_fields = scenario_reader.read_map("", yaml_value, _TOP_KEYS)
    fleet_fields = scenario_reader.read_map("fleet.", top_fields.pop("fleet", {}), _FLEET_KEYS)
    seed = top_fields.pop("seed", FleetPlan().seed)
    plan_sizes = {
        size_name: fleet_fields.pop(size_name)
        for size_name in list(fleet_fields)
        if size_name in FleetPlan._fields
    }
    fleet_plan = Scenario(scenario_name).plan._replace(seed=seed, **plan_sizes)
    faults = tuple(scenario_reader.read_faults(top_fields.pop("faults", [])))
    settings = scenario_reader.read_map("settings.", top_fields.pop("settings", {}), _SETTING_KEYS)
    scenario = Scenario(
        scenario_name, plan=fleet_plan, faults=faults, settings=settings, **fleet_fields, **top_fields
    )
    scenario_reader.check_targets(scenario)
    if scenario_reader.mistakes:
        raise InvalidScenarioError("\n".join(scenario_reader.mistakes))
    return scenario


_SCENARIO_FOLDER = resources.files("namesrv_core.lab") / "scenarios"


def list_scenario_names() -> list[str]:
    """List the names of the built-in scenarios, sorted, without reading the files."""
    return sorted(
        scenario_file.name.removesuffix(".yaml")
        for scenario_file in _SCENARIO_FOLDER.iterdir()
        if scenario_file.name.endswith(".yaml")
    )


def load_built_in_scenarios() -> dict[str, Scenario]:
    """Load the built-in scenarios by name."""
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
    scenario_path = Path(name_or_path)
    try:
        yaml_text = operator_files.read_text(
            scenario_path, max_characters=operator_files.MAX_CONFIG_CHARACTERS
        )
    except FileNotFoundError:
        raise InvalidScenarioError(
            f'unknown scenario "{name_or_path}": use a YAML file or one of {", ".join(built_in_scenarios)}'
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidScenarioError(f'cannot read "{name_or_path}": {error}') from None
    return parse_scenario(yaml_text, name_or_path, scenario_path.stem)
