"""Warns of brokers on which users or ACLs have no effect."""

from collections.abc import Sequence
from typing import Any

from nsadmin.client import ServerResult
from nsadmin.console.phrases import abbreviate_names
from nsadmin.console.session import Session


def warn_of_no_effect(
    session: Session, things: str, plans: Sequence[ServerResult[Any]], *needed_settings: str
) -> None:
    """Write which brokers of the plans lack a setting. Brokers list these only if broker.conf does."""
    addrs = dict.fromkeys(plan.addr for plan in plans if plan.error is None)
    addrs_by_lack: dict[str, list[str]] = {}
    for addr, config, _ in session.admin.broker_configs.get_each(addrs):
        if config is not None:
            lacks = [f"{key}=true" for key in needed_settings if config.get(key, "").lower() != "true"]
            addrs_by_lack.setdefault(" and ".join(lacks), []).append(addr)
    addrs_by_lack.pop("", None)
    for lack, open_addrs in addrs_by_lack.items():
        session.write_remark(
            f"{things} have no effect on {abbreviate_names(open_addrs, 3)}: set {lack} in broker.conf"
        )
