"""`lab`: runs a name server and a fleet of simulated brokers; no other command imports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def lab(argv: list[str]) -> int:
    """Run something to play with until Ctrl-C.

    Examples:
        # On the ports of all examples
        nsadmin lab up --namesrv-port 9876 --broker-port 10911
        # A small one on free ports
        nsadmin lab up --clusters 1 --groups 1 --replicas 1 --topics 5
    """
    from namesrv_core.fleet.lab import main

    return main(argv, "nsadmin lab")


def flags() -> ArgumentParser:
    """What it takes."""
    from namesrv_core.fleet.lab import parser

    return parser("nsadmin lab")
