"""Owns the meanings and units of columns that are particular to drain, undrain and rollingRestart."""

DRAIN_MEANINGS = {
    "drain": {
        "openTopics": "topics of the broker that clients may write to",
        "topicCount": "topics of the broker that the name server knows",
    },
    "undrain": {
        "differing": "why, by topic, of those that are not as before",
        "how": "topic by topic, the broker registered again, rw- for all, or nothing to do",
        "result": "done, partly, failed or dry-run",
        "topicCount": "topics that are as before the drain; in a dry run those that would be put back",
    },
    "rollingRestart": {
        "openTopics": "topics that clients may write to there; null for a slave",
        "result": "dry-run",
        "steps": "what would be done with it, one after the other",
    },
    "drainStatus": {
        "by": "who began it",
        "differing": "what is not as it should be; null where all is",
        "openTopics": "topics of the broker that clients may write to",
        "phase": "snapshot, wipe, settle, wait or safe; undrain while it is being undone",
        "pid": "the process that is at it now; null for none",
        "reopened": "how often a registration opened topics again there; null if unknown",
        "started": "when it was begun (UTC)",
        "topicCount": "topics of the broker that the name server knows",
    },
}
