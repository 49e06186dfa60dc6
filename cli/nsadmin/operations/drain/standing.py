"""Standing: how a drain stands, as short facts for who watches. Pure."""

from collections.abc import Mapping

from nsadmin.operations.drain.events import Record, names

PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


def standing(broker: str, progress: Record) -> list[tuple[str, str]]:
    """Facts, each with its name, out of a record of `Progress`."""
    found = [
        (broker, _phases(progress["phase"])),
        ("puts a minute", "unknown" if progress["puts"] is None else f"{progress['puts']:,}"),
    ]
    if progress["residue"]:
        found.append(("most of them", _residue(progress)))
    if progress["lag"] is not None:
        found.append(("lag", f"{progress['lag']:,} messages of {progress['groupsBehind']} groups"))
    found += [("slaves behind", _each(progress["behind"], " bytes"))] if progress["behind"] else []
    found += [
        ("topics open", _each(progress["openTopics"], "")),
        ("opened again", f"{progress['reopened']} times"),
        ("intervals without writes", f"{progress['quiet']} of {progress['intervals']}"),
        ("waits for", "; ".join(progress["waitingFor"]) or "nothing"),
    ]
    return found


def _phases(phase: str) -> str:
    """All of them, with the one that it is in between brackets."""
    return " ".join(f"[{name}]" if name == phase else name for name in PHASES)


def _residue(progress: Record) -> str:
    most = sorted(progress["residue"].items(), key=lambda item: -item[1])
    return names(f"{topic} {count:,} ({progress['sources'][topic]})" for topic, count in most)


def _each(values: Mapping[str, int | None], unit: str) -> str:
    return ", ".join(
        f"{addr} {'unknown' if value is None else f'{value:,}{unit}'}" for addr, value in values.items()
    )
