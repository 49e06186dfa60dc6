"""Writes a desired cluster as YAML: the same cluster always gives the same text, without defaults."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from namesrv_core.printable_text import escape_unsafe
from nsadmin.operations.plans.fields import FILE_FORMAT
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec

SCHEMA_FILE = "cluster.schema.json"
_SCHEMA_HINT = f"# yaml-language-server: $schema={SCHEMA_FILE}\n"
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def format_cluster(desired_cluster: DesiredCluster, remarks: Sequence[str] = ()) -> str:
    """The text of the file. It begins with the schema reference for editors and one line for each remark."""
    file_content: dict[str, Any] = {"version": FILE_FORMAT, "cluster": desired_cluster.cluster_name}
    file_sections = (
        ("topics", _spec_maps(desired_cluster.topic_specs)),
        ("groups", _spec_maps(desired_cluster.group_specs)),
        ("orderConf", _sort_keys(desired_cluster.order_confs)),
        (
            "kv",
            desired_cluster.kv_tables
            and {
                section_name: dict(sorted(desired_cluster.kv_tables[section_name].items()))
                for section_name in sorted(desired_cluster.kv_tables)
            },
        ),
    )
    file_content.update((name, content) for name, content in file_sections if content is not None)
    # A remark can name a server's topic: a line end in it must not add to the desired cluster.
    remark_lines = "".join(f"# {escape_unsafe(remark)}\n" for remark in remarks)
    return f"{_SCHEMA_HINT}{remark_lines}{dump_yaml(file_content)}"


class InlineMap(dict[str, Any]):
    """A map that is written on one line."""


class _InlineList(list[Any]):
    """A list that is written on one line."""


class _ClusterDumper(_BaseDumper):  # type: ignore[misc]
    """Writes sections as blocks, and inline maps and lists on one line."""


_ClusterDumper.add_representer(
    InlineMap,
    lambda dumper, inline_map: dumper.represent_mapping("tag:yaml.org,2002:map", inline_map, flow_style=True),
)
_ClusterDumper.add_representer(
    _InlineList,
    lambda dumper, inline_list: dumper.represent_sequence(
        "tag:yaml.org,2002:seq", inline_list, flow_style=True
    ),
)


def dump_yaml(file_content: Mapping[str, Any]) -> str:
    yaml_text = yaml.dump(
        file_content,
        Dumper=_ClusterDumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=1_000_000,
    )
    return str(yaml_text)


def _sort_keys(optional_map: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if optional_map is None else dict(sorted(optional_map.items()))


def _spec_maps(item_specs: Mapping[str, ItemSpec] | None) -> dict[str, Any] | None:
    return None if item_specs is None else {n: _spec_map(item_specs[n]) for n in sorted(item_specs)}


def _spec_map(item_spec: ItemSpec) -> dict[str, Any]:
    """An inline map; with deviating settings on single brokers, a line for each setting and broker."""
    broker_fields = {
        "onlyOn": None if item_spec.only_on is None else item_spec.only_on,
        "notOn": item_spec.not_on or None,
    }
    spec_fields = dict(item_spec.common_settings) | {
        n: names for n, names in broker_fields.items() if names is not None
    }
    if not item_spec.per_broker:
        return InlineMap(_plain_value(spec_fields))
    inline_fields = {field_key: _inline_value(field_value) for field_key, field_value in spec_fields.items()}
    return inline_fields | {
        "perBroker": {n: _inline_value(settings) for n, settings in item_spec.per_broker.items()}
    }


def _inline_value(field_value: Any) -> Any:
    plain_value = _plain_value(field_value)
    return (
        InlineMap(plain_value)
        if isinstance(plain_value, dict)
        else _InlineList(plain_value)
        if isinstance(plain_value, list)
        else plain_value
    )


def _plain_value(field_value: Any) -> Any:
    """The value with lists in place of tuples, for YAML."""
    if isinstance(field_value, Mapping):
        return {entry_key: _plain_value(entry_value) for entry_key, entry_value in field_value.items()}
    return [_plain_value(v) for v in field_value] if isinstance(field_value, (tuple, list)) else field_value
