"""Writes a desired cluster as YAML: the same cluster always gives the same text, without defaults."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from nsadmin.operations.plans.fields import FORMAT
from nsadmin.operations.plans.records import Desired, Spec

SCHEMA_FILE = "cluster.schema.json"
_HINT = f"# yaml-language-server: $schema={SCHEMA_FILE}\n"
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def text_of(desired: Desired, remarks: Sequence[str] = ()) -> str:
    """The text of the file. It begins with the schema reference for editors and one line for each remark."""
    content: dict[str, Any] = {"version": FORMAT, "cluster": desired.cluster}
    sections = (
        ("topics", _items(desired.topics)),
        ("groups", _items(desired.groups)),
        ("orderConf", _sorted(desired.order_conf)),
        ("kv", desired.kv and {name: dict(sorted(desired.kv[name].items())) for name in sorted(desired.kv)}),
    )
    content.update((name, section) for name, section in sections if section is not None)
    comments = "".join(f"# {remark}\n" for remark in remarks)
    return f"{_HINT}{comments}{_dumped(content)}"


class _Line(dict[str, Any]):
    """A map that is written on one line."""


class _Brief(list[Any]):
    """A list that is written on one line."""


class _Dumper(_Base):  # type: ignore[misc]
    """Writes sections as blocks, and inline maps and lists on one line."""


_Dumper.add_representer(
    _Line, lambda dumper, item: dumper.represent_mapping("tag:yaml.org,2002:map", item, flow_style=True)
)
_Dumper.add_representer(
    _Brief, lambda dumper, items: dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)
)


def _dumped(content: Mapping[str, Any]) -> str:
    text = yaml.dump(
        content,
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=1_000_000,
    )
    return str(text)


def _sorted(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if found is None else dict(sorted(found.items()))


def _items(specs: Mapping[str, Spec] | None) -> dict[str, Any] | None:
    return None if specs is None else {name: _item(specs[name]) for name in sorted(specs)}


def _item(spec: Spec) -> dict[str, Any]:
    """An inline map; with deviating settings on single brokers, a line for each setting and broker."""
    places = {"onlyOn": None if spec.only_on is None else spec.only_on, "notOn": spec.not_on or None}
    item = dict(spec.settings) | {name: listed for name, listed in places.items() if listed is not None}
    if not spec.per_broker:
        return _Line(_plain(item))
    plain = {key: _line(value) for key, value in item.items()}
    return plain | {"perBroker": {name: _line(settings) for name, settings in spec.per_broker.items()}}


def _line(value: Any) -> Any:
    plain = _plain(value)
    return _Line(plain) if isinstance(plain, dict) else _Brief(plain) if isinstance(plain, list) else plain


def _plain(value: Any) -> Any:
    """The value with lists in place of tuples, for YAML."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
