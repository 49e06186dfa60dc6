"""Settings of servers, for `nsadmin help WORDS`: their names, and examples in the words of operators."""

import json
from importlib.resources import files

from nsadmin.command_line.docstrings import CommandExample

_BROKER_SETTINGS = (
    (
        "namesrvAddr 'ns1.example.com:9876;ns2.example.com:9876' -a true",
        "Add or replace a name server: all brokers register with the new list in 3 minutes, no restart",
    ),
    ("maxMessageSize 8388608", "Allow bigger messages: a maximum size of 8 MiB in place of 4"),
    ("autoCreateTopicEnable false", "Turn off automatic creation of topics: only you create them"),
    ("autoCreateSubscriptionGroup false", "Turn off automatic creation of consumer groups"),
    ("defaultTopicQueueNums 4", "Queues of topics that are created automatically"),
    ("fileReservedTime 168", "Keep messages longer: retention of 7 days, in hours, before they expire"),
    (
        "brokerPermission 4",
        "Freeze a cluster: all brokers are read-only and refuse all writes; 6 opens them again",
    ),
    ("deleteWhen 03", "The hour of the day at which the broker deletes expired files"),
    ("diskMaxUsedSpaceRatio 80", "How full the disk may be before the broker deletes messages early"),
    ("brokerRole SYNC_MASTER", "Wait for the slave before a message is confirmed (synchronous)"),
    ("slaveReadEnable true", "Let consumers read from slaves if the master is busy"),
    ("sendMessageThreadPoolNums 16", "More threads that store messages (after a restart)"),
    ("sendThreadPoolQueueCapacity 20000", "A longer queue of sends before busy (after a restart)"),
    ("waitTimeMillsInSendQueue 500", "Let sends wait longer before the timeout and the answer broker busy"),
    ("osPageCacheBusyTimeOutMills 2000", "Tolerate a slow page cache before the answer system busy"),
    ("enablePropertyFilter true", "Allow SQL92 filters on message properties"),
    ("traceTopicEnable true", "Store message traces, in a topic for them (after a restart)"),
    ("transactionCheckMax 20", "How often the broker checks a transaction before it gives up"),
    ("transactionTimeOut 10000", "How long a transaction may be open before its first check"),
    ("timerMaxDelaySec 604800", "The longest delay of timed messages: 7 days, in seconds"),
    ("maxHaTransferByteInSecond 52428800", "Limit the bandwidth of replication to slaves"),
)
SETTING_EXAMPLES = {
    "updateBrokerConfig": [
        CommandExample(f"nsadmin updateBrokerConfig {setting} -c cluster-a", description)
        for setting, description in _BROKER_SETTINGS
    ]
}
SETTING_COMMANDS = {
    "updateBrokerConfig": "broker",
    "getBrokerConfig": "broker",
    "updateNamesrvConfig": "namesrv",
    "getNamesrvConfig": "namesrv",
}
"""The commands for all settings of a kind of servers."""


def read_setting_names() -> dict[str, set[str]]:
    """The names of the settings of released servers, by kind of server."""
    defaults = json.loads(files("nsadmin.operations").joinpath("config_defaults.json").read_text("utf-8"))
    return {kind: set().union(*releases.values()) for kind, releases in defaults.items()}
