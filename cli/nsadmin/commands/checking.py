"""Runs a check: parses its limits, waits until the state is OK if asked to, and writes the report."""

import re
from collections.abc import Callable, Sequence
from time import monotonic, sleep, time
from typing import Annotated

from namesrv_core.errors import BadSettings, RocketMQError
from nsadmin.commands.check_formats import WRITERS, Report
from nsadmin.commands.declared import Option
from nsadmin.diagnostics import UsageError
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.ranges import BadRange
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.output import Verdict
from nsadmin.session import Session

COLUMNS = ("check", "about", "state", "exitCode", "time", "summary", "details", "values")
"""The members of the object that --format json writes."""

Found = tuple[Finding, Sequence[Finding]]
Look = Callable[[], Finding | Found]
"""Observes the current state. A check that consists of several checks also returns their findings."""

ClusterOption = Annotated[
    str | None, Option("--clusterName", metavar="CLUSTER", help="Only what is in this cluster.")
]

SettleOption = Annotated[
    float | None,
    Option(
        "--settle",
        metavar="SECONDS",
        help="Where name servers differ, how long brokers may take to make them equal; 50 if left out.",
    ),
]
_SETTLE = 50.0
"""Nearly two heartbeats, and less than the 60 s that Nagios waits for a plugin."""

_PAUSE = 1.0
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def scale(check: str, warning: str | None, critical: str | None) -> Scale:
    """Parse --warning and --critical of a check; UsageError for a malformed range."""
    try:
        return Scale(check, warning, critical)
    except BadRange as error:
        raise UsageError(f"check {check}: {error}") from None


def settling(command: str, seconds: float | None) -> float:
    """How many seconds name servers may take to agree; UsageError if --settle is out of range."""
    if seconds is not None and not 0 <= seconds <= 3600:
        raise UsageError(f"{command}: --settle {seconds:g} cannot be: give seconds, 0 to 3600")
    return _SETTLE if seconds is None else seconds


def checked(session: Session, check: str, look: Look, about: str | None = None) -> Verdict:
    """Run the probe, with --wait-until-ok until the state is OK, and write the report in the chosen format.

    If the probe fails, the state is UNKNOWN. With --output-file, the returned text is empty.
    """
    plugin = session.options.plugin
    write = WRITERS.get(plugin.format or "text")
    if write is None:
        raise UsageError(f"--format {plugin.format} is unknown; there are: {', '.join(WRITERS)}")
    patience = None if plugin.wait_until_ok is None else _seconds(plugin.wait_until_ok)
    whole, parts = _until_ok(session, lambda: _found(check, look, about), patience)
    text = write(Report(whole, int(time() * 1000), parts, session.options.context))
    if plugin.output_file is None:
        return Verdict(text, whole.state)
    _keep(plugin.output_file, text)
    return Verdict("", whole.state)


def _found(check: str, look: Look, about: str | None) -> Found:
    try:
        found = look()
    except BadSettings:
        raise
    except RocketMQError as error:
        return Finding(check, State.UNKNOWN, str(error).split("\n", 1)[0], about=about), ()
    return (found, ()) if isinstance(found, Finding) else found


def _until_ok(session: Session, look: Callable[[], Found], patience: float | None) -> Found:
    ends = monotonic() + (patience or 0.0)
    told = None
    while True:
        whole, parts = look()
        left = ends - monotonic()
        if whole.state is State.OK or patience is None or left <= 0:
            return whole, parts
        if (whole.state, whole.summary) != told:
            told = whole.state, whole.summary
            session.remark(f"{whole.state.name}: {whole.summary}; waiting, for {left:.0f} s at most")
        sleep(min(_PAUSE, left))


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text.strip())
    if not found:
        raise UsageError(f"--wait-until-ok {text} is no time: give 90s, 5m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


def _keep(name: str, text: str) -> None:
    from pathlib import Path

    from namesrv_core.storage import durable

    path = Path(name).expanduser()
    try:
        durable.replace(path, f"{text.rstrip()}\n".encode("utf-8", "backslashreplace"), backup=False)
    except OSError as error:
        raise UsageError(f"--output-file {path}: {error.strerror}") from None
