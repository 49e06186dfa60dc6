"""namesrv: runs a name server in this process; no other command imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def namesrv(argv: list[str]) -> int:
    """Run a name server until it is told to stop; its flags are mqnamesrv's.

    Examples:
        # On this machine only, with its files in a folder of its own
        nsadmin namesrv --bind 127.0.0.1 --port 9876 --home /tmp/namesrv
        # The settings of RocketMQ's name server, and those of ours that are not as they usually are
        nsadmin namesrv -p
    """
    from namesrv_core.__main__ import main

    return main(argv, "nsadmin namesrv", keeps_journal=True)


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.__main__ import build_flag_parser

    return build_flag_parser("nsadmin namesrv", keeps_journal=True)
