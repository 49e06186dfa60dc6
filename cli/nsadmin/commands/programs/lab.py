"""Owns lab, which runs name servers and simulated brokers. No other command imports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Sequence

LAB_CONTEXT_NAME = "lab"


def lab(argv: list[str]) -> int:
    """Run a simulated cluster until Ctrl-C, or play a scenario of failures and check the journals.

    `lab up` adds a context `lab` while it runs. The context in use does not change. `lab list` shows the
    built-in scenarios, and `lab run` plays one to its end. A run writes `truth.jsonl` with every action and
    the expected events, and compares it with the journal of each name server. With `--java-logs`, it also
    writes the log of a Java name server next to each journal.

    Examples:
        # Use the ports of all examples
        nsadmin lab up --namesrv-port 9876 --broker-port 10911
        # Three name servers that lose some brokers; an hour takes a minute
        nsadmin lab up --scenario split-brain --speed 60
        # Play a quarter of an hour immediately, and check the journals
        nsadmin lab run flapping-broker
    """
    from namesrv_core.lab.command import main

    return main(argv, "nsadmin lab", announce_lab_context)


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from namesrv_core.lab.command import build_flag_parser

    return build_flag_parser("nsadmin lab")


def announce_lab_context(
    namesrv_addrs: Sequence[str], journal_folders: Sequence[str] = ()
) -> tuple[str, Callable[[], None]]:
    """Add the context `lab` for these name servers and journals, unless the operator has one of that name.

    Returns:
        A line about the context to print, and a function that removes the context.
    """
    import os

    from nsadmin import contexts

    contexts_file = contexts.contexts_path()
    is_new = not os.path.exists(contexts_file)
    lab_context = contexts.Context(namesrv_addr=";".join(namesrv_addrs), journals=tuple(journal_folders))

    def remove_context() -> None:
        def without_lab_context(known_contexts: contexts.Contexts) -> contexts.Contexts:
            return (
                known_contexts.without_context(LAB_CONTEXT_NAME)
                if known_contexts.contexts_by_name.get(LAB_CONTEXT_NAME) == lab_context
                else known_contexts
            )

        try:
            if not contexts.change_contexts(contexts_file, without_lab_context).contexts_by_name and is_new:
                os.remove(contexts_file)
        except (contexts.InvalidContextsError, OSError):
            # The operator has changed the file in the meantime, so it stays unchanged.
            pass

    def with_lab_context(known_contexts: contexts.Contexts) -> contexts.Contexts:
        return (
            known_contexts.with_context(LAB_CONTEXT_NAME, lab_context)
            if _is_left_over(known_contexts.contexts_by_name.get(LAB_CONTEXT_NAME))
            else known_contexts
        )

    try:
        if (
            contexts.change_contexts(contexts_file, with_lab_context).contexts_by_name[LAB_CONTEXT_NAME]
            != lab_context
        ):
            return (
                f'The context "{LAB_CONTEXT_NAME}" in {contexts_file} is yours and stays unchanged',
                lambda: None,
            )
    except contexts.InvalidContextsError as error:
        return f"No context was written: {error}", lambda: None
    return (
        f"Context {LAB_CONTEXT_NAME} in {contexts_file}: nsadmin --context {LAB_CONTEXT_NAME} clusterList",
        remove_context,
    )


def _is_left_over(found_context: object) -> bool:
    """Whether there is no context, or only one with local addresses that a killed lab left."""
    from nsadmin.contexts import Context

    if found_context is None:
        return True
    if not isinstance(found_context, Context) or found_context != Context(
        namesrv_addr=found_context.namesrv_addr, journals=found_context.journals
    ):
        return False
    return all(
        namesrv_addr.startswith("127.0.0.1:")
        for namesrv_addr in (found_context.namesrv_addr or "?").split(";")
    )
