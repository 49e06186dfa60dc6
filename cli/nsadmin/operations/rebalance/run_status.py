"""Formats the progress of a rebalance as short facts for live output. Pure."""

from nsadmin.operations.rebalance.run_events import STAGE_TEXTS
from nsadmin.operations.run_folder import EventRecord

_MAX_TOPICS = 12


def list_progress_facts(_: str, record: EventRecord) -> list[tuple[str, str]]:
    """Return pairs of a label and a value from the record of a `Progress` event."""
    facts = [
        (record["phase"], f"{record['done']} done, {record['moving']} moving, {record['pending']} to come")
    ]
    topics = sorted({*record["stages"], *record["waiting"]})
    for topic in topics[:_MAX_TOPICS]:
        stage = record["stages"].get(topic)
        waiting_text = "; ".join(record["waiting"].get(topic, ()))
        stage_text = "" if stage is None else STAGE_TEXTS[stage]
        facts.append(
            (topic or "groups", f"{stage_text}; waiting for {waiting_text}" if waiting_text else stage_text)
        )
    if len(topics) > _MAX_TOPICS:
        facts.append(("", f"and {len(topics) - _MAX_TOPICS} more topics"))
    return facts
