"""Checks how long the certificates of TLS servers and of this client's own files are still valid."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access import Tls
from nsadmin.client.certificates import Certificate, NoTls, in_file
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import Scale
from nsadmin.wording import first_of, to_the_second

_DAY = 86_400


class Seen(NamedTuple):
    """The certificates of servers, and of this client's files by purpose, at `now_seconds`.

    `listing_problem` says why the list of brokers is unknown.
    """

    now: float
    shown: Sequence[ServerResult[Certificate]]
    files: Mapping[str, Certificate | RocketMQError]
    unlisted: str | None = None


def look(admin: AdminClient, now: float, own: Tls | None) -> Seen:
    """Read the certificates of name servers, of all brokers that they list, and of this client's files."""
    found = listed.look(admin)
    shown = admin.certificates.shown([*admin.addresses.addrs, *found.names])
    unlisted = None if found.by_server else "no name server tells which brokers there are"
    return Seen(now, shown, _files(own), unlisted)


def _files(own: Tls | None) -> dict[str, Certificate | RocketMQError]:
    """Of a CA file, take the longest valid certificate: an expired CA beside a valid one is harmless."""
    found = {}
    if own is not None and own.ca_file is not None:
        found[f"CA file {own.ca_file}"] = _in_file(own.ca_file, max)
    if own is not None and own.cert_file is not None:
        found[f"own file {own.cert_file}"] = _in_file(own.cert_file, min)
    return found


def _in_file(path: Path, choose: Callable[..., Certificate]) -> Certificate | RocketMQError:
    try:
        return choose(in_file(path), key=lambda one: one.ends_at)
    except RocketMQError as error:
        return error


def judge(scale: Scale, seen: Seen) -> Finding:
    """Ignore servers without TLS. A server that does not answer may have an expired certificate."""
    found = {addr: one for addr, one, _ in seen.shown if one is not None}
    found |= {what: one for what, one in seen.files.items() if isinstance(one, Certificate)}
    plain = [addr for addr, _, error in seen.shown if isinstance(error, NoTls)]
    away = [
        f"{addr}: {error_text(error)}"
        for addr, _, error in seen.shown
        if error is not None and not isinstance(error, NoTls)
    ]
    away += [
        f"{what}: {error_text(one)}" for what, one in seen.files.items() if isinstance(one, RocketMQError)
    ]
    away += [seen.unlisted] if seen.unlisted else []
    no_tls = [f"{len(plain)} servers speak no TLS: {first_of(plain, 5)}"] if plain else []
    if not found:
        return scale.unknown("no certificate was seen", [*no_tls, *away])
    first = min(found, key=lambda what: found[what].ends_at)
    samples = [
        scale.sample("first", _days(found[first], seen.now)),
        *(scale.sample("days", _days(one, seen.now), what) for what, one in found.items()),
    ]
    least = State.UNKNOWN if away else State.OK
    ordered = sorted(found.items(), key=lambda item: item[1].ends_at)
    details = [*(_line(what, one) for what, one in ordered), *no_tls, *away]
    return scale.finding(_summary(len(found), first, samples[0].value or 0.0), samples, details, least=least)


def _days(one: Certificate, now: float) -> float:
    return round((one.ends_at - now) / _DAY, 2)


def _line(what: str, one: Certificate) -> str:
    return f"{what}: {one.name!r} until {to_the_second(one.ends_at * 1000)}"


def _summary(count: int, first: str, days: float) -> str:
    ends = f"ended {-days:.1f} days ago" if days < 0 else f"ends in {days:.1f} days"
    return f"of {count} certificates the first one {ends}: {first}"
