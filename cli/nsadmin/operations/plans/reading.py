"""Reads a desired cluster from YAML. Every mistake is reported with its line and the allowed values."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import yaml

from nsadmin.likeness import like, meant
from nsadmin.operations.plans.fields import CLUSTER
from nsadmin.operations.plans.records import Desired, Spec
from nsadmin.operations.plans.shapes import Flag, ListOf, MapOf, Name, OneOf, Record, Shape, Text, Whole

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"
_ANY = Text()


class BadFile(Exception):
    """The file cannot be used; `problem_lines` read "FILE:LINE: what is wrong and what is allowed"."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems[0])


class _Problem(NamedTuple):
    line: int
    text: str


def read(text: str, name: str) -> Desired:
    """Read the desired cluster from a file's text; `file_name` is for messages.

    Raises:
        InvalidPlanFileError: with all problems of the file.
    """
    root = compose(text, name)
    if root is None or root.tag == "tag:yaml.org,2002:null":
        raise BadFile([f"{name}:1: there is nothing in it: cluster is missing"])
    desired = _desired(value_of(root, CLUSTER, name))
    problems = _contradictions(desired, _lines(root))
    if problems:
        raise _bad_file(problems, name)
    return desired


def compose(text: str, name: str) -> Any:
    """The YAML nodes of a file, each with its line; None for an empty file.

    Raises:
        InvalidPlanFileError: the text is not valid YAML.
    """
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise BadFile([f"{name}{line}: no YAML: {getattr(error, 'problem', None) or error}"]) from None


def value_of(root: Any, shape: Shape, name: str) -> Any:
    """The value of a node that must have this shape.

    Raises:
        InvalidPlanFileError: with all deviations from the shape.
    """
    reader = _Reader()
    value = reader.value(root, shape, "")
    if reader.problems:
        raise _bad_file(reader.problems, name)
    return value


def _bad_file(problems: Iterable[_Problem], name: str) -> BadFile:
    return BadFile(f"{name}:{line}: {text}" for line, text in sorted(problems))


class _Reader:
    """Reads nodes by their shapes; `file_problems` collects the mistakes."""

    def __init__(self) -> None:
        self.problems: list[_Problem] = []
        self._merged: set[int] = set()
        self._flatten = yaml.constructor.SafeConstructor().flatten_mapping
        self._read: dict[type, Callable[[Any, Any, str], Any]] = {
            Whole: self._whole,
            Flag: self._flag,
            OneOf: self._one_of,
            Name: self._name,
            Text: self._text,
            ListOf: self._list,
            MapOf: self._map,
            Record: self._record,
        }

    def value(self, node: Any, shape: Shape, path: str) -> Any:
        """The value of a node; None if it is invalid."""
        return self._read[type(shape)](node, shape, path)

    def _wrong(self, node: Any, path: str, text: str) -> None:
        self.problems.append(_Problem(node.start_mark.line + 1, f"{path}: {text}" if path else text))

    def _scalar(self, node: Any, path: str, allowed: str) -> str | None:
        if isinstance(node, yaml.ScalarNode):
            return str(node.value)
        self._wrong(node, path, f"this has to be {allowed}")
        return None

    def _whole(self, node: Any, shape: Whole, path: str) -> int | None:
        is_fixed = shape.least == shape.most
        allowed = str(shape.least) if is_fixed else f"a whole number from {shape.least} to {shape.most}"
        text = self._scalar(node, path, allowed)
        if text is None:
            return None
        if not re.fullmatch(r"-?\d{1,19}", text) or not shape.least <= int(text) <= shape.most:
            self._wrong(node, path, f"{text!r} cannot be: it has to be {allowed}")
            return None
        return int(text)

    def _flag(self, node: Any, shape: Flag, path: str) -> bool | None:
        text = self._scalar(node, path, "true or false")
        if text is not None and text.lower() not in ("true", "false"):
            self._wrong(node, path, f"{text!r} cannot be: it has to be true or false")
            return None
        return None if text is None else text.lower() == "true"

    def _one_of(self, node: Any, shape: OneOf, path: str) -> str | None:
        allowed = f"one of {', '.join(shape.words)}"
        text = self._scalar(node, path, allowed)
        if text is not None and text not in shape.words:
            self._wrong(node, path, f"{text!r} cannot be: it has to be {allowed}{_meant(text, shape.words)}")
        return text

    def _name(self, node: Any, shape: Name, path: str) -> str | None:
        text = self._scalar(node, path, f"a {shape.what}")
        if text is not None and not re.fullmatch(shape.pattern, text):
            self._wrong(node, path, f"{text!r} is no {shape.what}: write {shape.allowed}")
        return text

    def _text(self, node: Any, shape: Text, path: str) -> str | None:
        if getattr(node, "tag", None) == _NULL:
            self._wrong(node, path, 'this has to be a text: an empty one is ""')
            return None
        return self._scalar(node, path, "a text")

    def _list(self, node: Any, shape: ListOf, path: str) -> tuple[Any, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self._wrong(node, path, "this has to be a list, such as [a, b]")
            return ()
        return tuple(self.value(item, shape.item, f"{path}[{at}]") for at, item in enumerate(node.value))

    def _pairs(self, node: Any, path: str, keys: Name | Text = _ANY) -> list[tuple[str, Any, Any]]:
        """The pairs of a map as (key, key node, value node); null counts as an empty map."""
        if getattr(node, "tag", None) == _NULL:
            return []
        if not isinstance(node, yaml.MappingNode):
            self._wrong(node, path, "this has to be a map of KEY: VALUE")
            return []
        self._merge(node, path)
        found = {}
        for key, value in node.value:
            text = self.value(key, keys, path)
            if text is not None:
                found[text] = (text, key, value)
        return list(found.values())

    def _merge(self, node: Any, path: str) -> None:
        """Report duplicate keys, then merge the maps that << names. A node may be visited again."""
        if id(node) in self._merged:
            return
        self._merged.add(id(node))
        seen: set[str] = set()
        for key in (key for key, _ in node.value if key.tag != _MERGE):
            if str(key.value) in seen:
                self._wrong(key, _joined(path, key.value), "this is there twice")
            seen.add(str(key.value))
        self._flatten(node)

    def _map(self, node: Any, shape: MapOf, path: str) -> dict[str, Any]:
        return {
            key: self.value(value, shape.item, _joined(path, key))
            for key, _, value in self._pairs(node, path, shape.key)
        }

    def _record(self, node: Any, shape: Record, path: str) -> dict[str, Any]:
        fields = {field.key: field for field in shape.fields}
        found = {}
        for key, key_node, value in self._pairs(node, path):
            if key in fields:
                found[key] = self.value(value, fields[key].shape, _joined(path, key))
            else:
                known = ", ".join(fields)
                self._wrong(
                    key_node, "", f"{_joined(path, key)} is unknown{_meant(key, fields)} (there are: {known})"
                )
        is_map = isinstance(node, yaml.MappingNode)
        for field in shape.fields:
            if is_map and field.required and field.key not in found:
                self._wrong(node, path, f"{field.key} is missing: {field.meaning}")
        return found


def _joined(path: str, key: str | None) -> str:
    return f"{path}.{key}" if path else str(key)


def _meant(word: str, known: Iterable[str]) -> str:
    near = like(word, known, most=1)
    return f"; {meant(near)}" if near else ""


def _desired(value: Mapping[str, Any]) -> Desired:
    return Desired(
        value["cluster"],
        _specs(value.get("topics")),
        _specs(value.get("groups")),
        value.get("orderConf"),
        value.get("kv"),
    )


def _specs(found: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Spec] | None:
    return None if found is None else {name: _spec(item) for name, item in found.items()}


def _spec(item: Mapping[str, Any]) -> Spec:
    settings = dict(item)
    only_on, not_on = settings.pop("onlyOn", None), settings.pop("notOn", ())
    return Spec(settings, only_on, not_on, settings.pop("perBroker", {}))


def _contradictions(desired: Desired, lines: Callable[[str, str], int]) -> list[_Problem]:
    """The problems of settings that contradict each other."""
    problems = []
    for kind, specs in (("topics", desired.topics), ("groups", desired.groups)):
        for name, spec in (specs or {}).items():
            if spec.only_on is not None and spec.not_on:
                text = "onlyOn and notOn exclude each other: leave one"
                problems.append(_Problem(lines(kind, name), f"{kind}.{name}: {text}"))
            elsewhere = [
                broker
                for broker in spec.per_broker
                if broker in spec.not_on or (spec.only_on is not None and broker not in spec.only_on)
            ]
            if elsewhere:
                text = f"perBroker speaks of {', '.join(elsewhere)}, which is not to have it"
                problems.append(_Problem(lines(kind, name), f"{kind}.{name}: {text}"))
    for name in desired.order_conf or {}:
        spec = (desired.topics or {}).get(name, Spec())
        if any(settings.get("order") is False for settings in (spec.settings, *spec.per_broker.values())):
            text = "order: false cannot be: brokers make a topic ordered that has an orderConf"
            problems.append(_Problem(lines("topics", name), f"topics.{name}: {text}"))
    if desired.kv and "ORDER_TOPIC_CONFIG" in desired.kv:
        text = "ORDER_TOPIC_CONFIG has a place of its own: write its keys under orderConf"
        problems.append(_Problem(lines("kv", "ORDER_TOPIC_CONFIG"), f"kv: {text}"))
    return problems


def _lines(root: Any) -> Callable[[str, str], int]:
    """A function that returns the line on which an item of a section begins."""
    sections = {key.value: value for key, value in root.value}

    def line(section: str, name: str) -> int:
        keys = {key.value: key for key, _ in sections[section].value}
        return int(keys.get(name, root).start_mark.line) + 1

    return line
