"""Warns on stderr before a command sets attributes that brokers do not know."""

from collections.abc import Iterable

from namesrv_core.protocol.resource_attributes import ATTRIBUTES_BY_KIND
from nsadmin.console.session import Session


def warn_of_unknown_attributes(session: Session, changes: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Write a line for each unknown attribute; `changes` has "topic" or "group", and signed keys."""
    added = {(kind, key[1:]): None for kind, signed_keys in changes for key in signed_keys if key[0] == "+"}
    for kind, attribute in added:
        if attribute not in ATTRIBUTES_BY_KIND[kind]:
            session.write_remark(
                f'brokers up to 5.5.1 know no attribute "{attribute}" of a {kind}, and refuse it'
            )
