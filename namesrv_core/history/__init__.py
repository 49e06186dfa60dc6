"""The records of a journal: events become records, and records become tables. Pure: it knows only events."""
