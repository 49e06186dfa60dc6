"""lab: runs name servers and a fleet of simulated brokers; no other command imports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence

CONTEXT = "lab"


def lab(argv: list[str]) -> int:
    """Run something to play with until Ctrl-C, or play out a disaster and see what name servers make of it.

    `lab up` writes a context `lab` beside yours while it runs; the one in use stays in use. `lab list` shows
    the scenarios that come with it, `lab run` plays one to its end. A run writes `truth.jsonl`, what was done
    when and what is to be concluded of it, and compares it with the journal of each name server. With
    `--java-logs` it also writes, beside each journal, the log that a Java name server would have written.

    Examples:
        # On the ports of all examples
        nsadmin lab up --namesrv-port 9876 --broker-port 10911
        # Three name servers, some of which lose sight of some brokers; an hour takes a minute
        nsadmin lab up --scenario split-brain --speed 60
        # A quarter of an hour at once, and the verdict
        nsadmin lab run flapping-broker
    """
    from namesrv_core.lab.command import main

    return main(argv, "nsadmin lab", announce)


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.lab.command import parser

    return parser("nsadmin lab")


def announce(addresses: Sequence[str]) -> tuple[str, Callable[[], None]]:
    """Add the context `lab` for these name servers, unless the operator has a context of that name.

    Returns:
        A line about the context to print, and a function that removes the context.
    """
    import os

    from nsadmin import contexts

    file = contexts.path()
    is_new = not os.path.exists(file)
    mine = contexts.Context(namesrv_addr=";".join(addresses))

    def remove() -> None:
        def without(known: contexts.Contexts) -> contexts.Contexts:
            return known.without(CONTEXT) if known.by_name.get(CONTEXT) == mine else known

        try:
            if not contexts.change(file, without).by_name and is_new:
                os.remove(file)
        except (contexts.BadConfig, OSError):
            # The operator has changed the file in the meantime, so it is left as it is.
            pass

    def with_mine(known: contexts.Contexts) -> contexts.Contexts:
        return known.with_context(CONTEXT, mine) if _is_left_over(known.by_name.get(CONTEXT)) else known

    try:
        if contexts.change(file, with_mine).by_name[CONTEXT] != mine:
            return f"{file} has a context {CONTEXT} of yours, which stays as it is", lambda: None
    except contexts.BadConfig as error:
        return f"no context was written: {error}", lambda: None
    return f"Context {CONTEXT} in {file}: nsadmin --context {CONTEXT} clusterList", remove


def _is_left_over(context: object) -> bool:
    """Whether there is no context, or one that a killed lab left: it has only local addresses."""
    from nsadmin.contexts import Context

    if context is None:
        return True
    if not isinstance(context, Context) or context != Context(namesrv_addr=context.namesrv_addr):
        return False
    return all(addr.startswith("127.0.0.1:") for addr in (context.namesrv_addr or "?").split(";"))
