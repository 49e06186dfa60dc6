"""Reads a desired cluster from YAML. Every mistake is reported with its line and the allowed values."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import yaml

from namesrv_core import operator_files
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.operations.plans.fields import CLUSTER_FIELDS
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.shapes import (
    ChoiceShape,
    DecimalShape,
    FlagShape,
    ListShape,
    MapShape,
    NameShape,
    RecordShape,
    TextShape,
    ValueShape,
    WholeNumberShape,
)

_YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL_TAG = "tag:yaml.org,2002:null"
_MERGE_TAG = "tag:yaml.org,2002:merge"
_ANY_KEY = TextShape()


class InvalidPlanFileError(Exception):
    """The file cannot be used; `problem_lines` read "FILE:LINE: PROBLEM: use VALUES"."""

    def __init__(self, problem_lines: Iterable[str]) -> None:
        self.problem_lines = tuple(problem_lines)
        super().__init__(self.problem_lines[0])


class _FileProblem(NamedTuple):
    line: int
    problem_text: str


def read_desired_cluster(file_text: str, file_name: str) -> DesiredCluster:
    """Read the desired cluster from a file's text; `file_name` is for messages.

    Raises:
        InvalidPlanFileError: with all problems of the file.
    """
    root_node = compose_yaml(file_text, file_name)
    if root_node is None or root_node.tag == "tag:yaml.org,2002:null":
        raise InvalidPlanFileError([f"{file_name}:1: the file is empty: cluster is missing"])
    desired_cluster = _build_desired_cluster(read_value(root_node, CLUSTER_FIELDS, file_name))
    file_problems = _find_contradictions(desired_cluster, _line_finder(root_node))
    if file_problems:
        raise _invalid_file(file_problems, file_name)
    return desired_cluster


def compose_yaml(file_text: str, file_name: str) -> Any:
    """The YAML nodes of a file, each with its line; None for an empty file.

    Raises:
        InvalidPlanFileError: the text is not valid YAML, or nested or repeated without measure.
    """
    try:
        operator_files.check_yaml(file_text)
        return yaml.compose(file_text, Loader=_YamlLoader)
    except yaml.YAMLError as error:
        problem_mark = getattr(error, "problem_mark", None)
        line_suffix = f":{problem_mark.line + 1}" if problem_mark else ""
        raise InvalidPlanFileError(
            [f"{file_name}{line_suffix}: invalid YAML: {getattr(error, 'problem', None) or error}"]
        ) from None


def read_value(root_node: Any, value_shape: ValueShape, file_name: str) -> Any:
    """The value of a node that must have this shape.

    Raises:
        InvalidPlanFileError: with all deviations from the shape.
    """
    node_reader = _NodeReader()
    value = node_reader.value(root_node, value_shape, "")
    if node_reader.file_problems:
        raise _invalid_file(node_reader.file_problems, file_name)
    return value


def line_of_key(root_node: Any, key_path: Iterable[str]) -> int:
    """The line of a key, or of its nearest parent that is in the file."""
    line, yaml_node = root_node.start_mark.line, root_node
    for key in key_path:
        key_pairs = yaml_node.value if isinstance(yaml_node, yaml.MappingNode) else ()
        for key_node, value_node in key_pairs:
            if str(key_node.value) == key:
                line, yaml_node = key_node.start_mark.line, value_node
                break
        else:
            break
    return int(line) + 1


def _invalid_file(file_problems: Iterable[_FileProblem], file_name: str) -> InvalidPlanFileError:
    return InvalidPlanFileError(
        f"{file_name}:{line_number}: {problem_text}" for line_number, problem_text in sorted(file_problems)
    )


class _NodeReader:
    """Reads nodes by their shapes; `file_problems` collects the mistakes."""

    def __init__(self) -> None:
        self.file_problems: list[_FileProblem] = []
        self._merged_node_ids: set[int] = set()
        self._flatten_mapping = yaml.constructor.SafeConstructor().flatten_mapping
        self._readers_by_shape: dict[type, Callable[[Any, Any, str], Any]] = {
            WholeNumberShape: self._read_whole_number,
            DecimalShape: self._read_decimal,
            FlagShape: self._read_flag,
            ChoiceShape: self._read_choice,
            NameShape: self._read_name,
            TextShape: self._read_text,
            ListShape: self._read_list,
            MapShape: self._read_map,
            RecordShape: self._read_record,
        }

    def value(self, yaml_node: Any, value_shape: ValueShape, key_path: str) -> Any:
        """The value of a node; None if it is invalid."""
        return self._readers_by_shape[type(value_shape)](yaml_node, value_shape, key_path)

    def _report_problem(self, yaml_node: Any, key_path: str, problem_text: str) -> None:
        self.file_problems.append(
            _FileProblem(
                yaml_node.start_mark.line + 1, f"{key_path}: {problem_text}" if key_path else problem_text
            )
        )

    def _read_scalar(self, yaml_node: Any, key_path: str, allowed_text: str) -> str | None:
        if isinstance(yaml_node, yaml.ScalarNode):
            return str(yaml_node.value)
        self._report_problem(yaml_node, key_path, f"must be {allowed_text}")
        return None

    def _read_whole_number(self, yaml_node: Any, number_shape: WholeNumberShape, key_path: str) -> int | None:
        is_fixed = number_shape.min_value == number_shape.max_value
        allowed_text = (
            str(number_shape.min_value)
            if is_fixed
            else f"a whole number from {number_shape.min_value} to {number_shape.max_value}"
        )
        scalar_text = self._read_scalar(yaml_node, key_path, allowed_text)
        if scalar_text is None:
            return None
        if (
            not re.fullmatch(r"-?\d{1,19}", scalar_text)
            or not number_shape.min_value <= int(scalar_text) <= number_shape.max_value
        ):
            self._report_problem(yaml_node, key_path, f'invalid value "{scalar_text}": use {allowed_text}')
            return None
        return int(scalar_text)

    def _read_decimal(self, yaml_node: Any, decimal_shape: DecimalShape, key_path: str) -> float | None:
        allowed_text = f"a number from {decimal_shape.min_value} to {decimal_shape.max_value}"
        scalar_text = self._read_scalar(yaml_node, key_path, allowed_text)
        if scalar_text is None:
            return None
        if (
            not re.fullmatch(r"-?\d{1,19}(\.\d{1,19})?", scalar_text)
            or not decimal_shape.min_value <= float(scalar_text) <= decimal_shape.max_value
        ):
            self._report_problem(yaml_node, key_path, f'invalid value "{scalar_text}": use {allowed_text}')
            return None
        return float(scalar_text)

    def _read_flag(self, yaml_node: Any, flag_shape: FlagShape, key_path: str) -> bool | None:
        scalar_text = self._read_scalar(yaml_node, key_path, "true or false")
        if scalar_text is not None and scalar_text.lower() not in ("true", "false"):
            self._report_problem(yaml_node, key_path, f'invalid value "{scalar_text}": use true or false')
            return None
        return None if scalar_text is None else scalar_text.lower() == "true"

    def _read_choice(self, yaml_node: Any, choice_shape: ChoiceShape, key_path: str) -> str | None:
        allowed_text = f"one of {', '.join(choice_shape.allowed_words)}"
        scalar_text = self._read_scalar(yaml_node, key_path, allowed_text)
        if scalar_text is not None and scalar_text not in choice_shape.allowed_words:
            self._report_problem(
                yaml_node,
                key_path,
                f'invalid value "{scalar_text}": use '
                f"{allowed_text}{_suggest_word(scalar_text, choice_shape.allowed_words)}",
            )
        return scalar_text

    def _read_name(self, yaml_node: Any, name_shape: NameShape, key_path: str) -> str | None:
        scalar_text = self._read_scalar(yaml_node, key_path, f"a {name_shape.kind_label}")
        if scalar_text is not None and not re.fullmatch(name_shape.pattern, scalar_text):
            self._report_problem(
                yaml_node,
                key_path,
                f'invalid {name_shape.kind_label} "{scalar_text}": use {name_shape.allowed_text}',
            )
        return scalar_text

    def _read_text(self, yaml_node: Any, text_shape: TextShape, key_path: str) -> str | None:
        if getattr(yaml_node, "tag", None) == _NULL_TAG:
            self._report_problem(yaml_node, key_path, 'must be a text: write "" for an empty text')
            return None
        return self._read_scalar(yaml_node, key_path, "a text")

    def _read_list(self, yaml_node: Any, list_shape: ListShape, key_path: str) -> tuple[Any, ...]:
        if not isinstance(yaml_node, yaml.SequenceNode):
            self._report_problem(yaml_node, key_path, "must be a list, such as [a, b]")
            return ()
        return tuple(
            self.value(item_node, list_shape.item_shape, f"{key_path}[{item_index}]")
            for item_index, item_node in enumerate(yaml_node.value)
        )

    def _read_pairs(
        self, yaml_node: Any, key_path: str, key_shape: NameShape | TextShape = _ANY_KEY
    ) -> list[tuple[str, Any, Any]]:
        """The pairs of a map as (key, key node, value node); null counts as an empty map."""
        if getattr(yaml_node, "tag", None) == _NULL_TAG:
            return []
        if not isinstance(yaml_node, yaml.MappingNode):
            self._report_problem(yaml_node, key_path, "must be a map of KEY: VALUE")
            return []
        self._merge_keys(yaml_node, key_path)
        pairs_by_key = {}
        for key_node, value_node in yaml_node.value:
            key_text = self.value(key_node, key_shape, key_path)
            if key_text is not None:
                pairs_by_key[key_text] = (key_text, key_node, value_node)
        return list(pairs_by_key.values())

    def _merge_keys(self, yaml_node: Any, key_path: str) -> None:
        """Report duplicate keys, then merge the maps that << names. A node may be visited again."""
        if id(yaml_node) in self._merged_node_ids:
            return
        self._merged_node_ids.add(id(yaml_node))
        seen_keys: set[str] = set()
        for key_node in (key_node for key_node, _ in yaml_node.value if key_node.tag != _MERGE_TAG):
            if str(key_node.value) in seen_keys:
                self._report_problem(key_node, _join_path(key_path, key_node.value), "duplicate key")
            seen_keys.add(str(key_node.value))
        try:
            self._flatten_mapping(yaml_node)
        except yaml.constructor.ConstructorError:
            self._report_problem(yaml_node, key_path, "<< must be a map, or a list of maps")

    def _read_map(self, yaml_node: Any, map_shape: MapShape, key_path: str) -> dict[str, Any]:
        return {
            key_text: self.value(value_node, map_shape.item_shape, _join_path(key_path, key_text))
            for key_text, _, value_node in self._read_pairs(yaml_node, key_path, map_shape.key_shape)
        }

    def _read_record(self, yaml_node: Any, record_shape: RecordShape, key_path: str) -> dict[str, Any]:
        fields_by_key = {record_field.key: record_field for record_field in record_shape.record_fields}
        values_by_key = {}
        for field_key, key_node, value_node in self._read_pairs(yaml_node, key_path):
            if field_key in fields_by_key:
                values_by_key[field_key] = self.value(
                    value_node, fields_by_key[field_key].value_shape, _join_path(key_path, field_key)
                )
            else:
                known_keys = ", ".join(fields_by_key)
                self._report_problem(
                    key_node,
                    "",
                    f'unknown key "{_join_path(key_path, field_key)}": use one of {known_keys}'
                    + _suggest_word(field_key, fields_by_key),
                )
        is_map = isinstance(yaml_node, yaml.MappingNode)
        for record_field in record_shape.record_fields:
            if is_map and record_field.is_required and record_field.key not in values_by_key:
                self._report_problem(
                    yaml_node, key_path, f"{record_field.key} is missing: {record_field.meaning}"
                )
        return values_by_key


def _join_path(key_path: str, key: str | None) -> str:
    return f"{key_path}.{key}" if key_path else str(key)


def _suggest_word(unknown_word: str, known_words: Iterable[str]) -> str:
    similar_words = find_similar_names(unknown_word, known_words, max_names=1)
    return f"; {did_you_mean(similar_words)}" if similar_words else ""


def _build_desired_cluster(parsed_file: Mapping[str, Any]) -> DesiredCluster:
    return DesiredCluster(
        parsed_file["cluster"],
        _build_specs(parsed_file.get("topics")),
        _build_specs(parsed_file.get("groups")),
        parsed_file.get("orderConf"),
        parsed_file.get("kv"),
    )


def _build_specs(parsed_items: Mapping[str, Mapping[str, Any]] | None) -> dict[str, ItemSpec] | None:
    return (
        None
        if parsed_items is None
        else {item_name: _build_spec(parsed_item) for item_name, parsed_item in parsed_items.items()}
    )


def _build_spec(parsed_item: Mapping[str, Any]) -> ItemSpec:
    item_settings = dict(parsed_item)
    only_on, not_on = item_settings.pop("onlyOn", None), item_settings.pop("notOn", ())
    return ItemSpec(item_settings, only_on, not_on, item_settings.pop("perBroker", {}))


def _find_contradictions(
    desired_cluster: DesiredCluster, find_line: Callable[[str, str], int]
) -> list[_FileProblem]:
    """The problems of settings that contradict each other."""
    file_problems = []
    for section_name, specs in (
        ("topics", desired_cluster.topic_specs),
        ("groups", desired_cluster.group_specs),
    ):
        for item_name, item_spec in (specs or {}).items():
            if item_spec.only_on is not None and item_spec.not_on:
                problem_text = "onlyOn and notOn exclude each other: remove one of them"
                file_problems.append(
                    _FileProblem(
                        find_line(section_name, item_name), f"{section_name}.{item_name}: {problem_text}"
                    )
                )
            contradicting_brokers = [
                broker_name
                for broker_name in item_spec.per_broker
                if broker_name in item_spec.not_on
                or (item_spec.only_on is not None and broker_name not in item_spec.only_on)
            ]
            if contradicting_brokers:
                problem_text = (
                    f"perBroker has settings for {', '.join(contradicting_brokers)}, but onlyOn or "
                    "notOn excludes these brokers"
                )
                file_problems.append(
                    _FileProblem(
                        find_line(section_name, item_name), f"{section_name}.{item_name}: {problem_text}"
                    )
                )
    for item_name in desired_cluster.order_confs or {}:
        item_spec = (desired_cluster.topic_specs or {}).get(item_name, ItemSpec())
        if any(
            item_settings.get("order") is False
            for item_settings in (item_spec.common_settings, *item_spec.per_broker.values())
        ):
            problem_text = (
                "order: false contradicts the orderConf: brokers make every topic with an orderConf ordered"
            )
            file_problems.append(
                _FileProblem(find_line("topics", item_name), f"topics.{item_name}: {problem_text}")
            )
    if desired_cluster.kv_tables and "ORDER_TOPIC_CONFIG" in desired_cluster.kv_tables:
        problem_text = "write the keys of ORDER_TOPIC_CONFIG under orderConf"
        file_problems.append(_FileProblem(find_line("kv", "ORDER_TOPIC_CONFIG"), f"kv: {problem_text}"))
    return file_problems


def _line_finder(root_node: Any) -> Callable[[str, str], int]:
    """A function that returns the line on which an item of a section begins."""
    nodes_by_section = {str(key_node.value): value_node for key_node, value_node in root_node.value}

    def find_line(section_name: str, item_name: str) -> int:
        nodes_by_name = {
            str(key_node.value): key_node for key_node, _ in nodes_by_section[section_name].value
        }
        return int(nodes_by_name.get(item_name, root_node).start_mark.line) + 1

    return find_line
