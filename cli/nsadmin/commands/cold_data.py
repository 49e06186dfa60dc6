"""Owns the commands for cold-data flow control: brokers limit how fast groups read data from the disk."""

from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.cold_data import ColdData, ThresholdChange
from nsadmin.client.results import error_text
from nsadmin.client.targets import Target
from nsadmin.commands.changes import CHANGE, CHANGE_IN_TABLE, change, forgiving
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import outcome
from nsadmin.commands.targets import (
    IDENTITY,
    AddrOption,
    AddrWord,
    MastersOption,
    MembersOption,
    addrs,
    identity,
    masters_at,
    matched,
    members_at,
    places,
)
from nsadmin.commands.times import utc
from nsadmin.commands.units import size
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = (*IDENTITY, "consumerGroup", "threshold", "coldAcc", "since", "lastColdRead", "error")
CHANGE_COLUMNS = (*IDENTITY, "consumerGroup", *CHANGE)
IN_TABLE = (*IDENTITY, "consumerGroup", *CHANGE_IN_TABLE)

Group = Annotated[str, Word(("-g", "--consumerGroup"), "GROUP", "Name of a group.")]


@shows(COLUMNS)
def get_cold_data_flow_ctr_info(session: Session, broker: AddrWord, cluster: MembersOption = None) -> Rows:
    """Show how much cold data groups may read in a second, and what they have read of it.

    A row without a group is about the whole broker; a row for each group that has a threshold of its own or
    was seen to read cold data. All other groups have the threshold that a note says. Groups are slowed down
    where the broker has coldDataFlowControlEnable=true; brokers know all this since 5.1.2.

    Examples:
        # Every broker of a cluster
        nsadmin getColdDataFlowCtrInfo -c cluster-a
        # One broker
        nsadmin getColdDataFlowCtrInfo 127.0.0.1:10911
    """
    targets = members_at(session, "getColdDataFlowCtrInfo", broker, cluster)
    results = matched(targets, session.admin.cold_data.each(addrs(targets)))
    rows = [row for target, found in zip(targets, results, strict=True) for row in _rows(target, found)]
    common = {found.result.group_threshold for found in results if found.result is not None}
    notes = [
        f"a group without a row may read {number} bytes per second" for number in sorted(filter(None, common))
    ]
    return Rows(COLUMNS, rows, [found.error for found in results], notes)


def _rows(target: Target, found: ServerResult[ColdData]) -> list[Row]:
    if found.result is None:
        return [{**identity(target), "error": found.error and error_text(found.error)}]
    data = found.result
    whole: Row = {
        **identity(target),
        "threshold": size(data.global_threshold),
        "coldAcc": size(data.global_acc),
    }
    groups: list[Row] = []
    for group in sorted(data.thresholds.keys() | data.reads.keys()):
        reads = data.reads.get(group)
        groups.append(
            {
                **identity(target),
                "consumerGroup": group,
                "threshold": size(data.thresholds.get(group, data.group_threshold)),
                "coldAcc": size(reads.acc) if reads else None,
                "since": utc(reads.created) if reads and reads.created else None,
                "lastColdRead": utc(reads.last_read) if reads and reads.last_read else None,
            }
        )
    return [whole, *groups]


@shows(CHANGE_COLUMNS)
def update_cold_data_flow_ctr_group_config(
    session: Session,
    group: Group,
    threshold: Annotated[
        str, Word(("-v", "--threshold"), "BYTES", "So many bytes of cold data in a second.", values="")
    ],
    broker: AddrOption = None,
    cluster: MastersOption = None,
) -> Rows:
    """Let a group read so much cold data in a second, on one broker or on every master of a cluster.

    It is read back, as brokers say yes to whatever they are told. They forget it when they are started anew.

    Examples:
        # What would change
        nsadmin updateColdDataFlowCtrGroupConfig search-indexer 1048576 -c cluster-a --dry-run
        # On one broker
        nsadmin updateColdDataFlowCtrGroupConfig -g search-indexer -v 1048576 -b 127.0.0.1:10911 --yes
    """
    command = "updateColdDataFlowCtrGroupConfig"
    if not (threshold.isascii() and threshold.isdecimal() and 0 < int(threshold) < 2**63):
        raise UsageError(f"{command}: {threshold!r} is no threshold: give bytes per second, such as 1048576")
    return _changed(session, command, group, int(threshold), broker, cluster)


@shows(CHANGE_COLUMNS)
def remove_cold_data_flow_ctr_group_config(
    session: Session, group: Group, broker: AddrOption = None, cluster: MastersOption = None
) -> Rows:
    """Let a group have the threshold for cold data that all have, on one broker or on a cluster's masters.

    A broker that has no threshold for the group says "not found", which is an error only if none has one.

    Examples:
        # What would change
        nsadmin removeColdDataFlowCtrGroupConfig search-indexer -c cluster-a --dry-run
        # On every master of a cluster
        nsadmin removeColdDataFlowCtrGroupConfig search-indexer -c cluster-a --yes
    """
    return _changed(session, "removeColdDataFlowCtrGroupConfig", group, None, broker, cluster)


def _changed(
    session: Session,
    command: str,
    group: str,
    threshold: int | None,
    broker: str | None,
    cluster: str | None,
) -> Rows:
    targets = masters_at(session, command, broker, cluster)
    what = "Remove the threshold" if threshold is None else f"Set {threshold} bytes per second"
    session.confirm(f"{what} of {group} on {places(targets)}?")
    control, at = session.admin.cold_data, addrs(targets)
    if session.dry_run:
        done = control.plan(at, group, threshold)
    elif threshold is None:
        done = control.remove(at, group)
    else:
        done = control.update(at, group, threshold)
    results = matched(targets, done)
    word = "dry-run" if session.dry_run else "done"
    rows: list[Row] = [
        {
            **identity(target),
            "consumerGroup": group,
            **_change(found.result),
            **outcome(found.error, _word(found, word)),
        }
        for target, found in zip(targets, results, strict=True)
    ]
    shown = Rows(CHANGE_COLUMNS, rows, [found.error for found in results], (), IN_TABLE)
    return forgiving(shown) if threshold is None else shown


def _change(found: ThresholdChange | None) -> dict[str, object]:
    return {} if found is None else change(found.before, found.after)


def _word(found: ServerResult[ThresholdChange], done: str) -> str:
    return "unchanged" if found.result is not None and found.result.before == found.result.after else done
