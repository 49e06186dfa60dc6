"""`lab`: runs a name server and a fleet of simulated brokers; no other command imports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def lab(argv: list[str]) -> int:
    """Run something to play with until Ctrl-C."""
    from namesrv_core.fleet.lab import main

    return main(argv, "nsadmin lab")


def flags() -> ArgumentParser:
    """What it takes."""
    from namesrv_core.fleet.lab import parser

    return parser("nsadmin lab")
