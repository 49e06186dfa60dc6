"""Mapping files in mqadmin's format: the mapping before a change and the mapping after it."""

from pathlib import Path
from typing import Any

from namesrv_core import operator_files
from namesrv_core.protocol import fastjson
from namesrv_core.storage import atomic_write
from nsadmin.client.topics.queue_mappings import parse_share, share_to_record
from nsadmin.operations.static_topics.mapping_planner import MappingPlan, SharesByBroker

BEFORE_SUFFIX, AFTER_SUFFIX = "before", "after"


class InvalidMappingFileError(Exception):
    """The mapping file cannot be used; the message says why."""


def save_mapping(
    folder: Path, plan: MappingPlan, file_suffix: str, shares: SharesByBroker | None = None
) -> Path:
    """Write the plan, or the given shares from before it, and return the path.

    Raises:
        OSError: the file cannot be written.
    """
    file_path = folder / f"{plan.topic}-{plan.epoch}.{file_suffix}"
    write_mapping_file(file_path, plan, plan.shares if shares is None else shares)
    return file_path


def write_mapping_file(file_path: Path, plan: MappingPlan, shares: SharesByBroker) -> None:
    """Write the plan with these shares to this file."""
    json_value = {
        "topic": plan.topic,
        "type": plan.mapping_type,
        "epoch": plan.epoch,
        "brokerConfigMap": {
            broker: share_to_record(plan.topic, broker, share) for broker, share in shares.items()
        },
        "brokerToMapIn": list(plan.map_in),
        "brokerToMapOut": list(plan.map_out),
    }
    atomic_write.replace_file(file_path, fastjson.encode_json(json_value) + b"\n", keeps_backup=False)


def load_mapping_file(file_path: Path) -> MappingPlan:
    """The plan in a file.

    Raises:
        InvalidMappingFileError: the file cannot be read or holds no plan.
    """
    try:
        saved: Any = fastjson.decode_json(operator_files.read_bytes(file_path))
        shares = {str(broker): parse_share(record) for broker, record in saved["brokerConfigMap"].items()}
        return MappingPlan(
            str(saved["topic"]),
            str(saved["type"]),
            int(saved["epoch"]),
            shares,
            tuple(saved["brokerToMapIn"]),
            tuple(saved["brokerToMapOut"]),
        )
    except OSError as error:
        raise InvalidMappingFileError(f"{file_path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidMappingFileError(
            f"{file_path} is not a mapping file ({type(error).__name__}: {error})"
        ) from None
