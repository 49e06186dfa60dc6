"""Owns report stream, which runs the pipeline continuously; Spark runs in its own process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

PROGRAM_NAME = "nsadmin report stream"


def report_stream(argv: list[str]) -> int:
    """Compute the tables of `nsadmin report run` continuously, until Ctrl-C.

    The command searches the folders for new data (--every), and processes it as a Spark stream with a
    checkpoint. Safe to interrupt: run the same command to resume. The tables are the same as those of one
    `report run`, also if lines arrive late.

    Examples:
        # For cron
        nsadmin report stream --input namesrv/journal --dir reports --once
        # Every five minutes, only the availability of brokers
        nsadmin report stream --input namesrv/journal --dir reports --every 5m --reports broker_availability
    """
    from nsadmin.commands.reports.report_run import require_input, run_pipeline

    require_input(flags().parse_args(argv))
    return run_pipeline(["stream", *argv])


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.flag_parser import FlagParser
    from nsreport.runtime.flags import add_stream_flags

    argument_parser = FlagParser(
        PROGRAM_NAME, "Compute the tables of nsadmin report run continuously, until Ctrl-C."
    )
    add_stream_flags(argument_parser)
    return argument_parser
