"""Accepted differences in addresses that several brokers share."""

from collections import Counter

from tests.interop.differential.cases import Case, Tolerance
from tests.interop.differential.loose_json import Pairs


def _is_address_in_two_groups(case: Case) -> bool:
    """Whether the route has an address twice, and so Java has two lists of filter servers for it."""
    body = case.java_view.get("body")
    if case.op.code != 105 or case.codes != (0, 0) or not isinstance(body, Pairs):
        return False
    groups = body.get("brokerDatas") or []
    addrs = Counter(addr for group in groups for _, addr in group.get("brokerAddrs") or ())
    return any(count > 1 for count in addrs.values())


def _settle_filters(case: Case) -> None:
    case.forget("body characters")
    for view in (case.java_view, case.our_view):
        body = view.get("body")
        if isinstance(body, Pairs):
            view["body"] = Pairs((key, value) for key, value in body if key != "filterServerTable")


def _is_orphan_at_close(case: Case) -> bool:
    return case.ledger.orphan_at_close


def _is_master_orphaned(case: Case) -> bool:
    ext = case.our_view.get("ext") or {}
    cluster = str((case.op.ext or {}).get("clusterName"))
    return (
        case.op.code == 103
        and case.codes == (0, 0)
        and not case.java_view.get("ext")
        and (cluster, str(ext.get("masterAddr"))) in case.ledger.orphans
    )


SHARED_ADDRESSES = (
    Tolerance(
        "filter servers of an address in two groups",
        "a route lists filter servers by address; which of two groups' lists is shown is left to Java's "
        "hashing",
        _is_address_in_two_groups,
        _settle_filters,
    ),
    Tolerance(
        "other names of an address that has unregistered",
        "Java forgets the live entry of an address when one name of it unregisters, and keeps the other "
        "names for ever; ours removes them with their connection",
        _is_orphan_at_close,
        lambda case: None,
        ends_sequence=True,
    ),
    Tolerance(
        "master at an address that has unregistered",
        "for the same reason Java names no master to a slave, although the route has it",
        _is_master_orphaned,
        lambda case: case.forget("ext"),
    ),
)
