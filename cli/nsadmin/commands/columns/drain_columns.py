"""Owns the meanings and units of columns that are particular to drain, undrain and rollingRestart."""

DRAIN_MEANINGS = {
    "drain": {
        "openTopics": "topics of the broker that are open to writes",
        "topicCount": "topics of the broker on the name server",
    },
    "undrain": {
        "differing": "topics that are not as before, with the reason",
        "how": "topic by topic, by a registration of the broker, rw- for all, or nothing to do",
        "result": "done, partly, failed or dry-run",
        "topicCount": "topics that are as before the drain; in a dry run, topics that would be restored",
    },
    "rollingRestart": {
        "openTopics": "topics that are open to writes there; null for a slave",
        "result": "dry-run",
        "steps": "the planned actions, in order",
    },
    "drainStatus": {
        "by": "user who started the drain",
        "differing": "the unexpected state; null if all is as expected",
        "openTopics": "topics of the broker that are open to writes",
        "phase": "snapshot, wipe, settle, wait or safe; undrain while it is being undone",
        "pid": "process that runs the drain now; null for none",
        "reopened": "how often a registration opened topics again there; null if unknown",
        "started": "start of the drain (UTC)",
        "topicCount": "topics of the broker on the name server",
    },
}
