"""Flags: the command-line flags of the pipeline. This module loads neither Spark nor Java."""

import argparse
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def add_run(flags: argparse.ArgumentParser) -> None:
    """Add the flags of `run`."""
    add_place(flags)
    flags.add_argument(
        "--compact", action="store_true", help="put small files of tables together afterwards, to 128 MiB"
    )


def add_stream(flags: argparse.ArgumentParser) -> None:
    """Add the flags of `stream`."""
    add_place(flags)
    flags.add_argument("--once", action="store_true", help="what there is now, for cron")
    flags.add_argument(
        "--every", type=seconds, default=60.0, metavar="TIME", help="from one look to the next: 30s, 5m (60s)"
    )


def add_place(flags: argparse.ArgumentParser) -> None:
    """Add the flags that `run` and `stream` share: inputs, output folder, reports and Spark settings."""
    flags.add_argument(
        "--input", action="append", default=[], metavar="DIR",
        help="journals, or logs of Java's, in this folder and below; * stands for any name; repeatable",
    )  # fmt: skip
    flags.add_argument(
        "--source", action="append", default=[], type=source, metavar="NAME=DIR",
        help="the same, all of the server NAME; with '*=DIR/*/logs' it is what the first * is; repeatable",
    )  # fmt: skip
    flags.add_argument("--output", required=True, metavar="DIR", help="where the tables are, or will be")
    flags.add_argument(
        "--since", type=moment, metavar="TIME",
        help="reports are of what was from then on: ISO 8601 (UTC if it does not say), 7d for a week ago"
        " (m, h, d, w), or ms since 1970",
    )  # fmt: skip
    flags.add_argument("--until", type=moment, metavar="TIME", help="and before then")
    flags.add_argument("--reports", type=words, default=(), metavar="A,B", help="only these reports")
    flags.add_argument(
        "--max-quarantine", type=share, default=0.01, metavar="SHARE",
        help="fail with exit code 3 where more of all lines cannot be understood: 1%%, 0.01 (1%%)",
    )  # fmt: skip
    flags.add_argument(
        "--master",
        metavar="URL",
        help="where Spark works: local[4], spark://HOST:PORT, yarn (local[*])",
    )
    flags.add_argument(
        "--conf", action="append", default=[], type=setting, metavar="KEY=VALUE",
        help="a setting of Spark's, such as spark.driver.memory=4g; repeatable",
    )  # fmt: skip


def source(text: str) -> tuple[str, str]:
    """Parse NAME=DIR into (name, folder)."""
    name, found, path = text.partition("=")
    if not (name and found and path):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=DIR")
    if name == "*" and "*" not in path:
        raise argparse.ArgumentTypeError(f"{text!r} has no * in its folder, which would be the name")
    return name, path


def setting(text: str) -> tuple[str, str]:
    """Parse KEY=VALUE into (key, value)."""
    key, found, value = text.partition("=")
    if not (key.startswith("spark.") and found):
        raise argparse.ArgumentTypeError(f"{text!r} is not spark.KEY=VALUE")
    return key, value


def share(text: str) -> float:
    """Parse a share such as 1% or 0.01 into a number from 0 to 1."""
    try:
        found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        found = -1
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: give 1% or 0.01")
    return found


def moment(text: str) -> int:
    """Parse ISO 8601 (UTC without a time zone), 7d for a week ago, or ms since 1970 into ms since 1970."""
    if text.isascii() and text.isdigit():
        return int(text)
    if ago := re.fullmatch(r"-?(\d{1,6})([mhdw])", text):
        return int((time.time() - int(ago[1]) * _UNITS[ago[2]]) * 1000)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither ISO 8601, nor 7d, nor ms since 1970") from None
    return round(found.replace(tzinfo=found.tzinfo or UTC).timestamp() * 1000)


def seconds(text: str) -> float:
    """Parse 30s, 5m or 2h into seconds."""
    found = re.fullmatch(r"(\d{1,6})([smh])", text)
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: give 30s, 5m or 2h")
    return float(found[1]) * _UNITS[found[2]]


def words(text: str) -> Sequence[str]:
    """Parse A,B into (A, B)."""
    return tuple(word for word in text.split(",") if word)
