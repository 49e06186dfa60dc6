"""Owns namesrv, which runs a name server in this process. No other command imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def namesrv(argv: list[str]) -> int:
    """Run a name server until it is stopped. It accepts the flags of mqnamesrv.

    Examples:
        # Only on this machine, with files in a separate folder
        nsadmin namesrv --bind 127.0.0.1 --port 9876 --home /tmp/namesrv
        # Print the settings
        nsadmin namesrv -p
    """
    from namesrv_core.__main__ import main

    return main(argv, "nsadmin namesrv", keeps_journal=True)


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.__main__ import build_flag_parser

    return build_flag_parser("nsadmin namesrv", keeps_journal=True)
