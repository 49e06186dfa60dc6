"""`namesrv`: runs a name server in this process; no other command imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def namesrv(argv: list[str]) -> int:
    """Run a name server until it is told to stop; its flags are mqnamesrv's."""
    from namesrv_core.__main__ import main

    return main(argv, "nsadmin namesrv")


def flags() -> ArgumentParser:
    """What it takes."""
    from namesrv_core.__main__ import parser

    return parser("nsadmin namesrv")
