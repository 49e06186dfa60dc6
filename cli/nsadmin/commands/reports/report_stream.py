"""reportStream: runs the pipeline continuously; Spark runs in its own process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

PROGRAM_NAME = "nsadmin report stream"


def report_stream(argv: list[str]) -> int:
    """Make the tables of `report run` of what comes, until Ctrl-C, or with --once of what there is.

    Folders are looked through from time to time (--every); what is new or has grown is ordered, and orders
    are carried out as a stream of Spark's with a checkpoint. It may be killed anywhere and started again: the
    tables are in the end what one run would have made. Late lines are taken as any others.

    Examples:
        # For cron
        nsadmin reportStream --input namesrv/journal --output reports --once
        # Every five minutes, only how available brokers were
        nsadmin reportStream --input namesrv/journal --output reports --every 5m --reports broker_availability
    """
    from nsadmin.commands.reports.report_run import require_input, run_pipeline

    require_input(PROGRAM_NAME, flags().parse_args(argv))
    return run_pipeline(["stream", *argv])


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.flag_parser import FlagParser
    from nsreport.runtime.flags import add_stream_flags

    argument_parser = FlagParser(
        PROGRAM_NAME, "Tables of what happens to name servers, made anew as it does."
    )
    add_stream_flags(argument_parser)
    return argument_parser
