"""reportRun: runs the pipeline once; Spark runs in its own process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Mapping, Sequence

PROG = "nsadmin report run"


def report_run(argv: list[str]) -> int:
    """Make tables of what journals and logs say: Parquet, for reports and for whatever else reads it.

    Journals of name servers and of collectors are read, compressed or not, also while they are written. Each
    line is taken once, so the same command may run every hour: it reads what is new and makes the days anew
    that this is of. A run that was killed is made up for by the next.

    Lines that nobody understands are in silver/quarantine with the reason; where they are more than
    --max-quarantine, the exit code is 3. Spark is the extra nsadmin[spark]; what it says goes to
    nsadmin/report.log in ~/.cache.

    Examples:
        # Once, or every hour
        nsadmin reportRun --input namesrv/journal --output reports
        # Journals of many name servers, each in a folder that is called as the server is to be
        nsadmin reportRun --source '*=collected/*' --output reports --max-quarantine 5%
        # One report, from February on
        nsadmin reportRun --input collected --output reports --reports drain_audit --since 2025-02-01
    """
    checked(PROG, flags().parse_args(argv))
    return carried_out(["run", *argv])


def checked(prog: str, parsed: Namespace) -> None:
    """Raise UsageError before Spark starts, which takes seconds, if there is nothing to read."""
    from glob import glob

    from nsadmin import diagnostics

    command = prog.removeprefix("nsadmin ")
    if not parsed.input and not parsed.source:
        raise diagnostics.UsageError(f"{command}: what is to be read? Give --input DIR or --source NAME=DIR")
    for given in parsed.input or ():
        # A path with a scheme (hdfs://) is not on this machine, so it cannot be checked here.
        if "://" not in given and not (os.path.exists(given) or glob(given)):
            raise diagnostics.UsageError(f"{command}: {given}: there is no such file or folder")
    if None not in (parsed.since, parsed.until) and parsed.since >= parsed.until:
        raise diagnostics.UsageError(f"{command}: --since is not before --until: nothing is between them")


def carried_out(words: Sequence[str]) -> int:
    """Run the pipeline, with progress on stderr and then a line per table on stdout; return the exit code."""
    from nsadmin import diagnostics, output
    from nsadmin.operations import reporting
    from nsadmin.progress import Line
    from nsadmin.settings.finding import cache_folder

    cache, lines, moving = cache_folder(), [], Line(diagnostics.say)
    try:
        for said in reporting.told(words, cache / "spark", cache / "report.log"):
            if "table" in said:
                lines.append(said)
            for text in _heard(said):
                moving.say(text)
            if "at" in said:
                moving.show(_working(said))
        return 0
    except reporting.Failed as error:
        moving.say(str(error))
        return error.code
    finally:
        moving.close()
        if lines:
            output.write_text("\n".join(_table(lines)))


def _heard(said: Mapping[str, Any]) -> Iterator[str]:
    if "table" in said:
        rows = f"{said['rowsIn']:,} rows in, {said['rowsOut']:,} out"
        yield f"{said['table']}: {rows}, {said['seconds']:.1f} s"
    for name in ("doing", "note"):
        if name in said:
            yield str(said[name])


def _working(said: Mapping[str, Any]) -> str:
    stages = f"{said['stages']} stages" if said["stages"] != 1 else "1 stage"
    tasks = f"{said['done']:,} of {said['tasks']:,} tasks"
    return f"{said['at'] or 'Spark'}: {stages}, {tasks}, {said['rows']:,} rows read"


def _table(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    width = max(len(str(line["table"])) for line in lines)
    yield f"{'table':<{width}}  {'rowsIn':>10}  {'rowsOut':>10}  {'seconds':>8}"
    for line in lines:
        yield (
            f"{line['table']:<{width}}  {line['rowsIn']:>10}  {line['rowsOut']:>10}  {line['seconds']:>8.1f}"
        )


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.flags import Flags
    from nsreport.flags import add_run

    found = Flags(PROG, "Tables of what happened to name servers, out of journals and logs.")
    add_run(found)
    return found
