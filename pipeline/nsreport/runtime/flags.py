"""Flags: the command-line flags of the pipeline. This module loads neither Spark nor Java."""

import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Option

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}

InputOption = Annotated[
    list[str] | None,
    Option(
        "--input",
        metavar="DIR",
        help="Read journals, or logs of Java servers, in this folder and below (may contain *). Repeatable.",
    ),
]
SourceOption = Annotated[
    list[str] | None,
    Option(
        "--source",
        metavar="NAME=DIR",
        help="The same, for the server NAME ('*=DIR/*/logs': the first * is the name). Repeatable.",
    ),
]
DirOption = Annotated[str, Option("--dir", metavar="DIR", help="Folder of the tables and reports.")]
SinceOption = Annotated[
    str | None,
    Option(
        "--since",
        "--from",
        metavar="TIME",
        help="Report on events from this time on: ISO 8601 (local time without a zone), 7d for a week ago"
        " (m, h, d, w), or ms since 1970.",
    ),
]
UntilOption = Annotated[
    str | None, Option("--until", metavar="TIME", help="Report on events before this time.")
]
ReportsOption = Annotated[str | None, Option("--reports", metavar="A,B", help="Compute only these reports.")]
MaxQuarantineOption = Annotated[
    str,
    Option(
        "--max-quarantine",
        metavar="SHARE",
        help="Exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01.",
    ),
]
KeepOption = Annotated[
    str, Option("--keep", metavar="DURATION", help="Keep replaced rows readable for this time: 36h, 30d.")
]
ForgetOption = Annotated[
    str | None,
    Option(
        "--forget",
        metavar="DURATION",
        help="Then drop the days that ended longer ago from all tables: 90d, 52w. States that last stay.",
    ),
]
MasterOption = Annotated[
    str | None,
    Option(
        "--master",
        metavar="URL",
        help="Spark master: local[4], spark://HOST:PORT, yarn. Default: local[*].",
    ),
]
ConfOption = Annotated[
    list[str] | None,
    Option(
        "--conf",
        metavar="KEY=VALUE",
        help="Spark setting, such as spark.driver.memory=4g. Repeatable.",
    ),
]
CompactOption = Annotated[
    bool, Option("--compact", help="Then merge small files of the tables, up to 128 MiB.")
]
OnceOption = Annotated[bool, Option("--once", help="Process the existing data and exit, for cron.")]
EveryOption = Annotated[
    str, Option("--every", metavar="DURATION", help="Time between two checks for new data: 30s, 5m.")
]


class InvalidFlagError(ValueError):
    """A flag has a wrong value; the text is one line."""


class RunArguments(NamedTuple):
    """A parsed command line. Times are in ms since 1970, durations in seconds.

    `is_stream` tells `stream` from `run`; `once` and `every` are those of `stream`, `compact` and `forget`
    (None: nothing) those of `run`.
    """

    is_stream: bool
    input: Sequence[str]
    source: Sequence[tuple[str, str]]
    output: str
    since: int | None
    until: int | None
    reports: Sequence[str]
    max_quarantine: float
    keep: int
    master: str | None
    conf: Sequence[tuple[str, str]]
    compact: bool = False
    forget: int | None = None
    once: bool = False
    every: float = 60.0
    cache: Path = Path("~/.cache/nsadmin")


def read_run_arguments(
    dir: DirOption,
    input: InputOption = None,
    source: SourceOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    reports: ReportsOption = None,
    max_quarantine: MaxQuarantineOption = "1%",
    keep: KeepOption = "7d",
    master: MasterOption = None,
    conf: ConfOption = None,
    compact: CompactOption = False,
    forget: ForgetOption = None,
) -> RunArguments:
    """Parse the options of `run`. Raises InvalidFlagError."""
    return _read_arguments(locals())._replace(
        compact=compact, forget=None if forget is None else parse_duration(forget)
    )


def read_stream_arguments(
    dir: DirOption,
    input: InputOption = None,
    source: SourceOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    reports: ReportsOption = None,
    max_quarantine: MaxQuarantineOption = "1%",
    keep: KeepOption = "7d",
    master: MasterOption = None,
    conf: ConfOption = None,
    once: OnceOption = False,
    every: EveryOption = "60s",
) -> RunArguments:
    """Parse the options of `stream`. Raises InvalidFlagError."""
    return _read_arguments(locals())._replace(is_stream=True, once=once, every=parse_seconds(every))


def _read_arguments(values: Mapping[str, Any]) -> RunArguments:
    """Parse the options that `run` and `stream` share."""
    since, until, reports = values["since"], values["until"], values["reports"]
    arguments = RunArguments(
        False,
        tuple(values["input"] or ()),
        [parse_source(text) for text in values["source"] or ()],
        values["dir"],
        None if since is None else parse_moment(since),
        None if until is None else parse_moment(until),
        parse_words(reports or ""),
        parse_share(values["max_quarantine"]),
        parse_duration(values["keep"]),
        values["master"],
        [parse_setting(text) for text in values["conf"] or ()],
    )
    if arguments.since is not None and arguments.until is not None and arguments.since >= arguments.until:
        raise InvalidFlagError("--since must be before --until")
    return arguments


def parse_source(flag_text: str) -> tuple[str, str]:
    """Parse NAME=DIR into (name, folder)."""
    server_name, separator, source_path = flag_text.partition("=")
    if not (server_name and separator and source_path):
        raise InvalidFlagError(f'invalid source "{flag_text}": use NAME=DIR')
    if server_name == "*" and "*" not in source_path:
        raise InvalidFlagError(f'invalid source "{flag_text}": put a * in the folder, for the name')
    return server_name, source_path


def parse_setting(flag_text: str) -> tuple[str, str]:
    """Parse KEY=VALUE into (key, value)."""
    setting_name, separator, setting_value = flag_text.partition("=")
    if not (setting_name.startswith("spark.") and separator):
        raise InvalidFlagError(f'invalid setting "{flag_text}": use spark.KEY=VALUE')
    return setting_name, setting_value


def parse_share(flag_text: str) -> float:
    """Parse a share such as 1% or 0.01 into a number from 0 to 1."""
    try:
        parsed_share = float(flag_text.removesuffix("%")) / (100 if flag_text.endswith("%") else 1)
    except ValueError:
        parsed_share = -1
    if not 0 <= parsed_share <= 1:
        raise InvalidFlagError(f'invalid share "{flag_text}": use 1% or 0.01')
    return parsed_share


def parse_moment(flag_text: str) -> int:
    """Parse ISO 8601 (local time without a zone), 7d for a week ago, or ms since 1970 into ms since 1970."""
    if flag_text.isascii() and flag_text.isdigit():
        return int(flag_text)
    if ago_match := re.fullmatch(r"-?(\d{1,6})([mhdw])", flag_text):
        return int((time.time() - int(ago_match[1]) * _UNIT_SECONDS[ago_match[2]]) * 1000)
    try:
        return round(datetime.fromisoformat(flag_text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise InvalidFlagError(f'invalid time "{flag_text}": use ISO 8601, 7d, or ms since 1970') from None


def parse_seconds(flag_text: str) -> float:
    """Parse 30s, 5m or 2h into seconds."""
    duration_match = re.fullmatch(r"(\d{1,6})([smh])", flag_text)
    if duration_match is None or int(duration_match[1]) == 0:
        raise InvalidFlagError(f'invalid time "{flag_text}": use 30s, 5m or 2h')
    return float(duration_match[1]) * _UNIT_SECONDS[duration_match[2]]


def parse_duration(flag_text: str) -> int:
    """Parse 36h, 7d or 4w, one hour or more, into seconds."""
    duration_match = re.fullmatch(r"(\d{1,6})([hdw])", flag_text)
    if duration_match is None or int(duration_match[1]) == 0:
        raise InvalidFlagError(f'invalid time "{flag_text}": use 36h, 7d or 4w')
    return int(duration_match[1]) * _UNIT_SECONDS[duration_match[2]]


def parse_words(flag_text: str) -> Sequence[str]:
    """Parse A,B into (A, B)."""
    return tuple(word for word in flag_text.split(",") if word)
