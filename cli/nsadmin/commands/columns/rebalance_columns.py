"""Owns the meanings and units of columns that are particular to rebalance plans and their runs."""

REBALANCE_MEANINGS = {
    "rebalancePlan": {
        "role": "added, removed, or stays",
        "writesBefore": "percent of the messages that producers send, before the plan",
        "writesAfter": "percent of the messages that producers send, after the plan",
        "readsBefore": "percent of the messages that consumers receive, before the plan",
        "readsAfter": "percent of the messages that consumers receive, after the plan",
        "diskBefore": "percent of the bytes that producers send, before the plan",
        "diskAfter": "percent of the bytes that producers send, after the plan",
        "queuesBefore": "percent of the write queues, before the plan",
        "queuesAfter": "percent of the write queues, after the plan",
    },
    "rebalanceRun": {
        "ordered": "whether the sequence of keys matters",
        "readAfter": "read queues on the broker after the run",
        "readBefore": "read queues on the broker now",
        "result": "dry-run",
        "writeAfter": "write queues on the broker after the run",
        "writeBefore": "write queues on the broker now",
    },
    "rebalanceStatus": {
        "by": "user who started the run",
        "movedTopics": "topics that are done; during a rollback, topics that are back",
        "movingTopics": "topics in motion",
        "phase": "running, paused or done; rollingBack or rolledBack with --rollback",
        "pid": "process that runs the plan now; null for none",
        "planDigest": "digest of the plan",
        "planFile": "copy of the plan, to resume or roll back",
        "readQueueNums": "read queues that the broker gets in this step",
        "since": "start of the step (UTC)",
        "stage": "kind of the step: openReads, openWrites, closeWrites, closeReads, deleteTopic; of "
        "ordered topics also pinOrder, addQueues, switchOrder, readOn, unpinOrder",
        "started": "start of the run (UTC)",
        "step": "number of the step, and of all steps of the topic",
        "topic": "the topic in motion; null for a run without any",
        "waitingFor": "missing conditions at the last check, or the reason of a pause",
        "writeQueueNums": "write queues that the broker gets in this step",
    },
}
