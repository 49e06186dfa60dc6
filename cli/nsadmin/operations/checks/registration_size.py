"""Registration sizes: how near each broker is to the largest frame that a name server reads."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.operations.registration_size import Size, measure

_SHOWN = 10


class Seen(NamedTuple):
    """What each broker registers; `names` are those of brokers by address, `away` what nobody told."""

    names: Mapping[str, str]
    sizes: Sequence[ServerResult[Size]]
    away: Sequence[str] = ()


def look(admin: AdminClient, cluster: str | None = None, broker_addr: str | None = None) -> Seen:
    """At what brokers say that they register: all that are listed, or one, which may be listed nowhere."""
    names, away = {broker_addr or "": broker_addr or ""}, list[str]()
    if broker_addr is None:
        found = listed.look(admin, cluster)
        names, away = found.names, found.away
    return Seen(names, [one.then(measure) for one in admin.registrations.each(names)], away)


def judge(scale: Scale, seen: Seen) -> Finding:
    """By the largest; brokers that do not tell leave it unknown, unless what is known is bad enough."""
    sizes = {addr: size for addr, size, _ in seen.sizes if size is not None}
    away = [f"{seen.names[addr]}: {error_text(error)}" for addr, _, error in seen.sizes if error is not None]
    away += seen.away
    if not sizes:
        return scale.unknown("no broker tells what it registers", away)
    ordered = sorted(sizes.items(), key=lambda item: -item[1].bytes)
    largest, size = ordered[0]
    samples = [
        scale.sample("largest", round(size.share * 100, 2)),
        *(scale.sample("size", one.bytes, addr) for addr, one in ordered),
    ]
    summary = (
        f"the largest of {len(sizes)} registrations takes {size.bytes} of {MAX_FRAME} bytes,"
        f" that of {seen.names[largest]}"
    )
    details = [*(_line(seen.names[addr], one) for addr, one in ordered[:_SHOWN]), *away]
    return scale.finding(summary, samples, details, least=State.UNKNOWN if away else State.OK)


def _line(name: str, size: Size) -> str:
    room = "" if size.fits is None else f", room for {size.fits} more"
    return f"{name}: {size.bytes} bytes, {len(size.topics)} topics{room}"
