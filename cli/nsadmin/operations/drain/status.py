"""Formats the status of a drain as short facts for live output. Pure."""

from collections.abc import Mapping, Sequence

from nsadmin.operations.drain.events import join_first_names
from nsadmin.operations.run_folder import EventRecord

SHOWN_PHASES = ("snapshot", "wipe", "settle", "wait", "safe")


def describe_status(broker_name: str, progress_record: EventRecord) -> list[tuple[str, str]]:
    """Return pairs of a label and a value from the record of a `Progress` event."""
    named_facts = [
        (broker_name, _format_phases(progress_record["phase"])),
        ("puts per minute", "unknown" if progress_record["puts"] is None else f"{progress_record['puts']:,}"),
    ]
    if progress_record["residue"]:
        named_facts.append(("top topics", _format_recent_puts(progress_record)))
    # Records of earlier releases have no writers.
    if progress_record.get("writers"):
        named_facts.append(("last writers", _format_writers(progress_record["writers"])))
    if progress_record["lag"] is not None:
        named_facts.append(
            ("lag", f"{progress_record['lag']:,} messages of {progress_record['groupsBehind']} groups")
        )
    named_facts += (
        [("slaves behind", _format_by_addr(progress_record["behind"], " bytes"))]
        if progress_record["behind"]
        else []
    )
    named_facts += [
        ("writable topics", _format_by_addr(progress_record["openTopics"], "")),
        ("reopened", f"{progress_record['reopened']} times"),
        ("intervals without writes", f"{progress_record['quiet']} of {progress_record['intervals']}"),
        ("waiting for", "; ".join(progress_record["waitingFor"]) or "nothing"),
    ]
    return named_facts


def _format_phases(current_phase: str) -> str:
    """Format all phases, with the current phase in brackets."""
    return " ".join(f"[{name}]" if name == current_phase else name for name in SHOWN_PHASES)


def _format_recent_puts(progress_record: EventRecord) -> str:
    busiest_topics = sorted(progress_record["residue"].items(), key=lambda item: -item[1])
    return join_first_names(
        f"{topic} {count:,} ({progress_record['sources'][topic]})" for topic, count in busiest_topics
    )


def _format_writers(writers_by_topic: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{topic}: {join_first_names(writers)}" for topic, writers in writers_by_topic.items())


def _format_by_addr(values_by_addr: Mapping[str, int | None], unit_text: str) -> str:
    return ", ".join(
        f"{addr} {'unknown' if value is None else f'{value:,}{unit_text}'}"
        for addr, value in values_by_addr.items()
    )
