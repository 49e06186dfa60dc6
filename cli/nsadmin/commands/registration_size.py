"""Owns registrationSize, which compares each broker's registration with the largest frame."""

from collections.abc import Sequence, Set
from typing import Annotated

from namesrv_core.protocol.codes import V5_0_0, version_text
from namesrv_core.protocol.frame import MAX_FRAME
from nsadmin.client import ServerResult
from nsadmin.client.registrations import Registrant
from nsadmin.client.results import error_text
from nsadmin.client.targets import members
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.targets import AddrOption, MembersOption, addrs, broker_at
from nsadmin.diagnostics import UsageError
from nsadmin.operations.registration_size import Size, measure
from nsadmin.operations.topic_kinds import of_vanished_groups
from nsadmin.output import Bytes, Row, Rows
from nsadmin.session import Session

COLUMNS = (
    "clusterName", "brokerName", "brokerId", "brokerAddr", "version", "topics", "form", "frames", "bytes",
    "framePercent", "fits", "removable", "removableBytes", "largestTopic", "largestTopicBytes", "error",
)  # fmt: skip
IN_TABLE = ("brokerName", "brokerId", "topics", "form", "bytes", "framePercent", "fits", "removable", "error")
TOPIC_COLUMNS = ("brokerName", "brokerId", "brokerAddr", "topic", "bytes", "vanishedGroup")


@shows(COLUMNS, TOPIC_COLUMNS)
def registration_size(
    session: Session,
    broker: AddrOption = None,
    cluster: MembersOption = None,
    largest: Annotated[
        int | None,
        Option("--largest", metavar="COUNT", help="So many topics of each broker, largest first.", minimum=1),
    ] = None,
    removable: Annotated[
        bool, Option("--removable", help="The topics of retries and dead letters whose group has vanished.")
    ] = False,
) -> Rows:
    """Show how many bytes each broker's registration takes of the 16 MiB that a name server reads.

    A name server closes the connection on a larger one, and the broker is gone with all its topics. Sizes are
    those of what the broker sends, computed from its topics and settings to the byte; a compressed one by two
    bytes in a hundred. A broker that cannot register any more is not found: name it with -b.

    Examples:
        # How near each broker is to the limit, and how many more topics it takes
        nsadmin registrationSize
        # The five largest topics of one broker
        nsadmin registrationSize -b 127.0.0.1:10911 --largest 5
        # Those below a half, for a script
        nsadmin registrationSize --filter 'framePercent<50' --output csv
    """
    if broker is not None and cluster is not None:
        raise UsageError("registrationSize: type either -b ADDR or -c CLUSTER")
    if largest is not None and removable:
        raise UsageError("registrationSize: type either --largest or --removable")
    if broker is not None:
        targets = [broker_at(session, broker)]
    else:
        targets = members(session.admin.clusters.info(), cluster)
    found = session.admin.registrations.each(addrs(targets))
    groups, notes = _groups(session, broker is not None)
    errors = [result.error for result in found]
    if largest is not None or removable:
        rows = [row for result in found for row in _topics(result, groups, largest)]
        failed = [f"broker {addr}: {error_text(error)}" for addr, _, error in found if error is not None]
        return Rows(TOPIC_COLUMNS, rows, errors, [*notes, *failed])
    measured = [result.then(measure) for result in found]
    notes += [_warning(result) for result in measured if result.result and result.result.share > 1]
    notes += filter(None, map(_refused, found))
    rows = [_row(*pair, groups) for pair in zip(found, measured, strict=True)]
    return Rows(COLUMNS, rows, errors, notes, IN_TABLE)


def _groups(session: Session, is_direct: bool) -> tuple[Set[str] | None, list[str]]:
    """All existing groups, and notes; None if a broker did not answer, or if the line names one broker."""
    if is_direct:
        return None, []
    tables = session.admin.groups.names(system=True)
    silent = [table.addr for table in tables if table.error is not None]
    if silent:
        return None, [f"which groups have vanished is unknown: {', '.join(silent)} did not tell theirs"]
    return {name for table in tables for name in table.result or ()}, []


def _warning(result: ServerResult[Size]) -> str:
    return f"broker {result.addr}: no name server reads its registration: it is larger than {MAX_FRAME} bytes"


def _refused(result: ServerResult[Registrant]) -> str | None:
    broker = result.result
    if broker is None or not broker.is_compressed or broker.version < V5_0_0:
        return None
    return (
        f"broker {result.addr}: Java's name servers refuse what it registers, as 5.x compresses and does not "
        "say so: set compressedRegister to false"
    )


def _row(found: ServerResult[Registrant], size: ServerResult[Size], groups: Set[str] | None) -> Row:
    if found.result is None or size.result is None:
        assert found.error is not None
        return {"brokerAddr": found.addr, "error": error_text(found.error)}
    largest = size.result.topics[0] if size.result.topics else None
    rest = None if groups is None else of_vanished_groups(found.result.topics, groups)
    return {
        **_identity(found.result, found.addr),
        "clusterName": found.result.cluster_name,
        "version": version_text(found.result.version),
        "topics": len(size.result.topics),
        "form": "compressed" if found.result.is_compressed else "JSON",
        "frames": len(size.result.bodies),
        "bytes": Bytes(size.result.bytes),
        "framePercent": round(100 * size.result.share, 4),
        "fits": size.result.fits,
        "removable": None if rest is None else len(rest),
        "removableBytes": None
        if rest is None
        else Bytes(sum(item.bytes for item in size.result.topics if item.topic in rest)),
        "largestTopic": largest and largest.topic,
        "largestTopicBytes": largest and Bytes(largest.bytes),
    }


def _identity(broker: Registrant, addr: str) -> Row:
    return {"brokerName": broker.broker_name, "brokerId": broker.broker_id, "brokerAddr": addr}


def _topics(found: ServerResult[Registrant], groups: Set[str] | None, largest: int | None) -> Sequence[Row]:
    broker = found.result
    if broker is None:
        return []
    rest = {} if groups is None else of_vanished_groups(broker.topics, groups)
    rows: list[Row] = [
        {
            **_identity(broker, found.addr),
            "topic": size.topic,
            "bytes": Bytes(size.bytes),
            "vanishedGroup": rest.get(size.topic),
        }
        for size in measure(broker).topics
    ]
    return rows[:largest] if largest is not None else [row for row in rows if row["vanishedGroup"]]
