"""Formats the status of a drain as short facts for live output. Pure."""

from collections.abc import Mapping, Sequence

from nsadmin.operations.drain.events import join_first_names
from nsadmin.operations.run_folder import EventRecord

SHOWN_PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


def describe_status(broker: str, record: EventRecord) -> list[tuple[str, str]]:
    """Return pairs of a label and a value from the record of a `Progress` event."""
    named_facts = [
        (broker, _format_phases(record["phase"])),
        ("puts per minute", "unknown" if record["puts"] is None else f"{record['puts']:,}"),
    ]
    if record["residue"]:
        named_facts.append(("top topics", _format_recent_puts(record)))
    # Records of earlier releases have no writers.
    if record.get("writers"):
        named_facts.append(("last writers", _format_writers(record["writers"])))
    if record["lag"] is not None:
        named_facts.append(("lag", f"{record['lag']:,} messages of {record['groupsBehind']} groups"))
    named_facts += (
        [("slaves behind", _format_by_addr(record["behind"], " bytes"))] if record["behind"] else []
    )
    named_facts += [
        ("writable topics", _format_by_addr(record["openTopics"], "")),
        ("reopened", f"{record['reopened']} times"),
        ("intervals without writes", f"{record['quiet']} of {record['intervals']}"),
        ("waiting for", "; ".join(record["waitingFor"]) or "nothing"),
    ]
    return named_facts


def _format_phases(current_phase: str) -> str:
    """Format all phases, with the current phase in brackets."""
    return " ".join(f"[{name}]" if name == current_phase else name for name in SHOWN_PHASES)


def _format_recent_puts(record: EventRecord) -> str:
    busiest_topics = sorted(record["residue"].items(), key=lambda item: -item[1])
    return join_first_names(
        f"{topic} {count:,} ({record['sources'][topic]})" for topic, count in busiest_topics
    )


def _format_writers(writers_by_topic: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{topic}: {join_first_names(writers)}" for topic, writers in writers_by_topic.items())


def _format_by_addr(values_by_addr: Mapping[str, int | None], unit_text: str) -> str:
    return ", ".join(
        f"{addr} {'unknown' if value is None else f'{value:,}{unit_text}'}"
        for addr, value in values_by_addr.items()
    )
