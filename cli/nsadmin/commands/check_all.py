"""checkAll: runs every check that applies and reports them as one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from nsadmin.commands.checking import COLUMNS, SettleOption, checked, scale, settling
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.recorded import JournalOption
from nsadmin.diagnostics import UsageError
from nsadmin.operations.checks import everything
from nsadmin.operations.checks.everything import Asked
from nsadmin.operations.checks.thresholds import LABELS
from nsadmin.output import Verdict
from nsadmin.session import Session

ALL_COLUMNS = (*COLUMNS, "checks")
_LIMITED = (*everything.CHECKS, *LABELS)


@shows(ALL_COLUMNS)
def check_all(
    session: Session,
    topics: Annotated[
        list[str] | None,
        Option("-t", "--topic", metavar="TOPIC", help="Check this topic by itself, too. Repeatable."),
    ] = None,
    groups: Annotated[
        list[str] | None,
        Option("-g", "--groupName", metavar="GROUP", help="Check the lag of this group, too. Repeatable."),
    ] = None,
    expected: Annotated[
        int | None,
        Option("--expect", metavar="N", help="How many brokers there have to be.", minimum=0),
    ] = None,
    journal: JournalOption = None,
    settle: SettleOption = None,
    warning: Annotated[
        list[str] | None,
        Option(
            "--warning",
            metavar="CHECK=RANGE",
            help="Other limits for a check than its usual ones. Repeatable.",
        ),
    ] = None,
    critical: Annotated[
        list[str] | None,
        Option("--critical", metavar="CHECK=RANGE", help="The same, such as lag=500000. Repeatable."),
    ] = None,
    left_out: Annotated[
        list[str] | None,
        Option(
            "--skip",
            metavar="CHECK",
            help="Without this check. Repeatable.",
            values="|".join(everything.CHECKS),
        ),
    ] = None,
) -> Verdict:
    """Run every check that applies, at the same time; the worst state is the exit code.

    namesrv, brokers, writable, heartbeat and registrationSize always; divergence where there are several name
    servers, certificates where TLS is in use, journal where a name server has one or a folder is known, drain
    where one is kept here; topic and lag for those that are named. What was not run is told, and why.

    Examples:
        # All of them
        nsadmin checkAll
        # A group of its own as well, for node_exporter
        nsadmin checkAll -g warehouse --critical 'lag=~:' --format prometheus --output-file nsadmin.prom
        # Wait until a cluster that was restarted is well again
        nsadmin checkAll --wait-until-ok 5m
    """
    unknown = [name for name in left_out or () if name not in everything.CHECKS]
    if unknown:
        raise UsageError(f"check all: --skip {unknown[0]}: there are {', '.join(everything.CHECKS)}")
    options = session.options
    asked = Asked(
        tuple(dict.fromkeys(topics or ())),
        tuple(dict.fromkeys(groups or ())),
        tuple(Path(folder).expanduser() for folder in dict.fromkeys(journal or options.journals)),
        options.access.tls,
        settling("check all", settle),
        _limits(warning or (), critical or ()),
        expected,
    )
    return checked(session, "all", lambda: everything.run(session.onlooker, asked, left_out or ()))


def _limits(warning: Sequence[str], critical: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
    """The warning and critical ranges by check, as they were typed; UsageError for a malformed range."""
    warnings, criticals = _by_check("--warning", warning), _by_check("--critical", critical)
    limits = {name: (warnings.get(name), criticals.get(name)) for name in {**warnings, **criticals}}
    for name, pair in limits.items():
        scale(name, *pair)
    return limits


def _by_check(option: str, texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for (name, equals, _), text in zip(pairs, texts, strict=True):
        if not equals or name not in _LIMITED:
            raise UsageError(f"check all: {option} {text}: give CHECK=RANGE; there are {', '.join(_LIMITED)}")
    return {name: text for name, _, text in pairs}
