"""Reads a desired cluster from YAML. Every mistake is reported with its line and the allowed values."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from namesrv_core.file_shapes import FileStyle, Path, Shape, WrittenNull, read_shape
from namesrv_core.operator_files import InvalidYaml, YamlDocument
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.operations.plans.fields import CLUSTER_FIELDS
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec


class InvalidPlanFileError(Exception):
    """The file cannot be used; `problem_lines` read "FILE:LINE: PROBLEM: use VALUES"."""

    def __init__(self, problem_lines: Iterable[str]) -> None:
        self.problem_lines = tuple(problem_lines)
        super().__init__(self.problem_lines[0])


class _PlanStyle(FileStyle):
    is_as_written = True
    is_null_empty = True

    after_place = ": "

    def invalid(self, value: Any, allowed: str, words: Iterable[str] = ()) -> str:
        if not isinstance(value, str):
            return f"must be {allowed}"
        return f'invalid value "{value}": use {allowed}{_suggest_word(value, words)}'

    def not_a_map(self, value: Any, known_keys: Iterable[str]) -> str:
        return f"must be a map, such as {{{next(iter(known_keys), 'NAME')}: VALUE}}"

    def place(self, path: Path) -> str:
        if path and isinstance(path[0], int):
            # The whole file is a list, whose items people count from 1.
            return ": ".join(filter(None, (f"item {path[0] + 1}", super().place(path[1:]))))
        return super().place(path)

    def unknown_key(self, path: Path, known_keys: Collection[str]) -> str:
        meant_key = self.find_meant_key(str(path[-1]), known_keys)
        advice = did_you_mean([meant_key]) if meant_key else f"use one of {', '.join(known_keys)}"
        item_count = sum(isinstance(step, int) for step in path[:1])
        return self.at(path[:item_count], f'unknown key "{self.place(path[item_count:])}": {advice}')

    def find_meant_key(self, unknown_key: str, known_keys: Iterable[str]) -> str | None:
        return next(iter(find_similar_names(unknown_key, known_keys, max_names=1)), None)


def _suggest_word(unknown_word: str, known_words: Iterable[str]) -> str:
    similar_words = find_similar_names(unknown_word, known_words, max_names=1)
    return f"; {did_you_mean(similar_words)}" if similar_words else ""


class PlanDocument:
    """A YAML file that is read with lines, as cluster files, lists and rebalance plans are.

    Its methods raise InvalidPlanFileError, with all problems that they find.
    """

    def __init__(self, file_text: str, file_name: str) -> None:
        self._file_name = file_name
        try:
            self._document = YamlDocument(file_text, is_as_written=True, is_small=False)
        except InvalidYaml as error:
            line = f":{error.line}" if error.line else ""
            language = "JSON" if file_name.lower().endswith(".json") else "YAML"
            raise InvalidPlanFileError([f"{file_name}{line}: invalid {language}: {error}"]) from None
        self.value = self._document.value

    @property
    def is_empty(self) -> bool:
        return self.value is None or isinstance(self.value, WrittenNull)

    def read(self, shape: Shape, path: Path = (), *, skips_nulls: bool = False) -> Any:
        """The value at the path, which must have this shape. Messages name paths below that one."""
        value = self.value
        for step in path:
            value = value[step]
        style = _PlanStyle()
        value, mistakes = read_shape(_without_nulls(value) if skips_nulls else value, shape, style)
        problems = [
            (self._document.line_of((*path, *m.path), is_about_key=m.is_about_key), m.text) for m in mistakes
        ]
        for bad_key in self._document.bad_keys:
            if bad_key.path[: len(path)] == path:
                problems.append((bad_key.line, style.at(bad_key.path[len(path) :], bad_key.problem)))
        self._refuse(problems)
        return value

    def require_none(self, problems: Iterable[tuple[Path, str]]) -> None:
        """Refuse the file if there are problems: the paths of their keys, and their texts."""
        self._refuse([(self._document.line_of(path, is_about_key=True), text) for path, text in problems])

    def _refuse(self, problems: Iterable[tuple[int, str]]) -> None:
        problem_lines = [f"{self._file_name}:{line}: {text}" for line, text in sorted(problems)]
        if problem_lines:
            raise InvalidPlanFileError(problem_lines)


def _without_nulls(value: Any) -> Any:
    """The value without nulls in maps."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if not isinstance(v, WrittenNull)}
    return list(map(_without_nulls, value)) if isinstance(value, list) else value


def read_desired_cluster(file_text: str, file_name: str) -> DesiredCluster:
    """Read the desired cluster from a file's text; `file_name` is for messages.

    Raises InvalidPlanFileError with all problems of the file.
    """
    document = PlanDocument(file_text, file_name)
    if document.is_empty:
        raise InvalidPlanFileError([f'{file_name}:1: the file is empty: add a line "cluster: NAME"'])
    desired_cluster = _build_desired_cluster(document.read(CLUSTER_FIELDS))
    document.require_none(_find_contradictions(desired_cluster))
    return desired_cluster


def _build_desired_cluster(parsed_file: Mapping[str, Any]) -> DesiredCluster:
    return DesiredCluster(
        parsed_file["cluster"],
        _build_specs(parsed_file.get("topics")),
        _build_specs(parsed_file.get("groups")),
        parsed_file.get("orderConf"),
        parsed_file.get("kv"),
    )


def _build_specs(parsed_items: Mapping[str, Mapping[str, Any]] | None) -> dict[str, ItemSpec] | None:
    return None if parsed_items is None else {name: _build_spec(item) for name, item in parsed_items.items()}


def _build_spec(parsed_item: Mapping[str, Any]) -> ItemSpec:
    item_settings = dict(parsed_item)
    only_on, not_on = item_settings.pop("onlyOn", None), item_settings.pop("notOn", ())
    return ItemSpec(item_settings, only_on, not_on, item_settings.pop("perBroker", {}))


def _find_contradictions(desired_cluster: DesiredCluster) -> Iterator[tuple[Path, str]]:
    """The problems of settings that contradict each other, with the paths of their keys."""
    topic_specs = desired_cluster.topic_specs or {}
    for section, specs in (("topics", topic_specs), ("groups", desired_cluster.group_specs or {})):
        for item_name, spec in specs.items():
            path, place = (section, item_name), f"{section}.{item_name}"
            if spec.only_on is not None and spec.not_on:
                yield path, f"{place}: onlyOn and notOn exclude each other: remove one of them"
            brokers = [
                broker
                for broker in spec.per_broker
                if broker in spec.not_on or (spec.only_on is not None and broker not in spec.only_on)
            ]
            if brokers:
                yield (
                    path,
                    f"{place}: perBroker has settings for {', '.join(brokers)}, but onlyOn or notOn excludes "
                    "these brokers",
                )
    for topic in desired_cluster.order_confs or {}:
        spec = topic_specs.get(topic, ItemSpec())
        if any(s.get("order") is False for s in (spec.common_settings, *spec.per_broker.values())):
            yield (
                ("topics", topic),
                f"topics.{topic}: order: false contradicts the orderConf: brokers make every topic with an "
                "orderConf ordered",
            )
    if "ORDER_TOPIC_CONFIG" in (desired_cluster.kv_tables or {}):
        yield (("kv", "ORDER_TOPIC_CONFIG"), "kv: write the keys of ORDER_TOPIC_CONFIG under orderConf")
