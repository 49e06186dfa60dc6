"""Flags: the command-line flags of the pipeline. This module loads neither Spark nor Java."""

import argparse
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def add_run_flags(argument_parser: argparse.ArgumentParser) -> None:
    """Add the flags of `run`."""
    add_common_flags(argument_parser)
    argument_parser.add_argument(
        "--compact", action="store_true", help="then merge small files of the tables, up to 128 MiB"
    )


def add_stream_flags(argument_parser: argparse.ArgumentParser) -> None:
    """Add the flags of `stream`."""
    add_common_flags(argument_parser)
    argument_parser.add_argument(
        "--once", action="store_true", help="process the existing data and exit, for cron"
    )
    argument_parser.add_argument(
        "--every",
        type=parse_seconds,
        default=60.0,
        metavar="TIME",
        help="time between two checks for new data: 30s, 5m (default: 60s)",
    )


def add_common_flags(argument_parser: argparse.ArgumentParser) -> None:
    """Add the flags that `run` and `stream` share: inputs, output folder, reports and Spark settings."""
    argument_parser.add_argument(
        "--input", action="append", default=[], metavar="DIR",
        help="read journals, or logs of Java servers, in this folder and below (may contain *); repeatable",
    )  # fmt: skip
    argument_parser.add_argument(
        "--source", action="append", default=[], type=parse_source, metavar="NAME=DIR",
        help="the same, for the server NAME ('*=DIR/*/logs': the first * is the name); repeatable",
    )  # fmt: skip
    folder_group = argument_parser.add_mutually_exclusive_group(required=True)
    folder_group.add_argument("--dir", dest="output", metavar="DIR", help="folder of the tables and reports")
    # The former name; --output is the format elsewhere.
    folder_group.add_argument("--output", metavar="DIR", help=argparse.SUPPRESS)
    argument_parser.add_argument(
        "--since", type=parse_moment, metavar="TIME",
        help="report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago"
        " (m, h, d, w), or ms since 1970",
    )  # fmt: skip
    argument_parser.add_argument(
        "--until", type=parse_moment, metavar="TIME", help="report on events before this time"
    )
    argument_parser.add_argument(
        "--reports", type=parse_words, default=(), metavar="A,B", help="compute only these reports"
    )
    argument_parser.add_argument(
        "--max-quarantine", type=parse_share, default=0.01, metavar="SHARE",
        help="exit with code 3 if more than this share of the lines is unreadable: 1%%, 0.01 (default: 1%%)",
    )  # fmt: skip
    argument_parser.add_argument(
        "--keep", type=parse_duration, default=7 * 86_400, metavar="TIME",
        help="keep replaced rows readable for this time: 36h, 30d (default: 7d)",
    )  # fmt: skip
    argument_parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])",
    )
    argument_parser.add_argument(
        "--conf", action="append", default=[], type=parse_setting, metavar="KEY=VALUE",
        help="Spark setting, such as spark.driver.memory=4g; repeatable",
    )  # fmt: skip


def parse_source(flag_text: str) -> tuple[str, str]:
    """Parse NAME=DIR into (name, folder)."""
    server_name, separator, source_path = flag_text.partition("=")
    if not (server_name and separator and source_path):
        raise argparse.ArgumentTypeError(f'invalid source "{flag_text}": use NAME=DIR')
    if server_name == "*" and "*" not in source_path:
        raise argparse.ArgumentTypeError(f'invalid source "{flag_text}": put a * in the folder, for the name')
    return server_name, source_path


def parse_setting(flag_text: str) -> tuple[str, str]:
    """Parse KEY=VALUE into (key, value)."""
    setting_name, separator, setting_value = flag_text.partition("=")
    if not (setting_name.startswith("spark.") and separator):
        raise argparse.ArgumentTypeError(f'invalid setting "{flag_text}": use spark.KEY=VALUE')
    return setting_name, setting_value


def parse_share(flag_text: str) -> float:
    """Parse a share such as 1% or 0.01 into a number from 0 to 1."""
    try:
        parsed_share = float(flag_text.removesuffix("%")) / (100 if flag_text.endswith("%") else 1)
    except ValueError:
        parsed_share = -1
    if not 0 <= parsed_share <= 1:
        raise argparse.ArgumentTypeError(f'invalid share "{flag_text}": use 1% or 0.01')
    return parsed_share


def parse_moment(flag_text: str) -> int:
    """Parse ISO 8601 (UTC without a time zone), 7d for a week ago, or ms since 1970 into ms since 1970."""
    if flag_text.isascii() and flag_text.isdigit():
        return int(flag_text)
    if ago_match := re.fullmatch(r"-?(\d{1,6})([mhdw])", flag_text):
        return int((time.time() - int(ago_match[1]) * _UNIT_SECONDS[ago_match[2]]) * 1000)
    try:
        parsed_time = datetime.fromisoformat(flag_text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'invalid time "{flag_text}": use ISO 8601, 7d, or ms since 1970'
        ) from None
    return round(parsed_time.replace(tzinfo=parsed_time.tzinfo or UTC).timestamp() * 1000)


def parse_seconds(flag_text: str) -> float:
    """Parse 30s, 5m or 2h into seconds."""
    duration_match = re.fullmatch(r"(\d{1,6})([smh])", flag_text)
    if duration_match is None or int(duration_match[1]) == 0:
        raise argparse.ArgumentTypeError(f'invalid time "{flag_text}": use 30s, 5m or 2h')
    return float(duration_match[1]) * _UNIT_SECONDS[duration_match[2]]


def parse_duration(flag_text: str) -> int:
    """Parse 36h, 7d or 4w, one hour or more, into seconds."""
    duration_match = re.fullmatch(r"(\d{1,6})([hdw])", flag_text)
    if duration_match is None or int(duration_match[1]) == 0:
        raise argparse.ArgumentTypeError(f'invalid time "{flag_text}": use 36h, 7d or 4w')
    return int(duration_match[1]) * _UNIT_SECONDS[duration_match[2]]


def parse_words(flag_text: str) -> Sequence[str]:
    """Parse A,B into (A, B)."""
    return tuple(word for word in flag_text.split(",") if word)
