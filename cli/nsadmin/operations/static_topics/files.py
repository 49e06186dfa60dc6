"""Mapping files in mqadmin's format: the mapping before a change and the mapping after it."""

from pathlib import Path
from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.storage import durable
from nsadmin.client.mappings import record, share
from nsadmin.operations.static_topics.planning import Plan, Shares

BEFORE, AFTER = "before", "after"


class BadFile(Exception):
    """The mapping file cannot be used; the message says why."""


def save(folder: Path, plan: Plan, suffix: str, shares: Shares | None = None) -> Path:
    """Write the plan, or the given shares from before it, and return the path.

    Raises:
        OSError: the file cannot be written.
    """
    path = folder / f"{plan.topic}-{plan.epoch}.{suffix}"
    write(path, plan, plan.shares if shares is None else shares)
    return path


def write(path: Path, plan: Plan, shares: Shares) -> None:
    """Write the plan with these shares to this file."""
    value = {
        "topic": plan.topic,
        "type": plan.kind,
        "epoch": plan.epoch,
        "brokerConfigMap": {name: record(plan.topic, name, item) for name, item in shares.items()},
        "brokerToMapIn": list(plan.map_in),
        "brokerToMapOut": list(plan.map_out),
    }
    durable.replace(path, fastjson.dumps(value) + b"\n", backup=False)


def load(path: Path) -> Plan:
    """The plan in a file.

    Raises:
        InvalidMappingFileError: the file cannot be read or holds no plan.
    """
    try:
        value: Any = fastjson.loads(path.read_bytes())
        shares = {str(name): share(item) for name, item in value["brokerConfigMap"].items()}
        return Plan(
            str(value["topic"]),
            str(value["type"]),
            int(value["epoch"]),
            shares,
            tuple(value["brokerToMapIn"]),
            tuple(value["brokerToMapOut"]),
        )
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"{path} is no mapping file ({type(error).__name__}: {error})") from None
