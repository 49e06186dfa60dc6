"""A backup with an item of each kind."""

from nsadmin.client.access.acls import AclEntry
from nsadmin.client.access.plain_acls import PlainAccount
from nsadmin.client.access.users import User
from nsadmin.client.consumers.consume_modes import AssignedMode, ConsumeMode
from nsadmin.client.topics.queue_mappings import BrokerQueueShare, QueueMappingItem
from nsadmin.operations.backups.records import BrokerBackup, ClusterBackup, SavedOffset

STATIC_SHARE = BrokerQueueShare(
    {
        "topicName": "moved", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "topicSysFlag": 0,
        "order": False, "topicFilterType": "SINGLE_TAG", "attributes": {},
    },
    5,
    1,
    {0: (QueueMappingItem(0, 0, "broker-b", 0, 0, 7), QueueMappingItem(1, 0, "broker-a", 10_000))},
)  # fmt: skip
BROKER = BrokerBackup(
    "broker-a",
    "5.5.0",
    {"orders": {"readQueueNums": 8, "order": False}, "payments": {"readQueueNums": 4}},
    {"warehouse": {"retryMaxTimes": 3}},
    {"moved": STATIC_SHARE},
    {("orders", "warehouse"): {0: SavedOffset(7, 1_700_000_000_000), 1: SavedOffset(0, None)}},
    [AssignedMode("orders", "warehouse", ConsumeMode("POP", 4))],
    [User("alice", "s3cret", "Super", "enable")],
    {"User:alice": (AclEntry("Topic:orders", ("Pub", "Sub"), "Allow", ("10.0.0.1",)),)},
    {"fileReservedTime": "72", "brokerIP1": "10.0.0.1"},
    [PlainAccount("ci", "12345678", False, "10.0.0.9", "DENY", "SUB", ("orders=PUB|SUB",), None)],
    ["10.1.*.*"],
)
BACKUP = ClusterBackup(
    "cluster-a",
    1_700_000_000_000,
    "0.1.0",
    {"broker-a": BROKER},
    {"ORDER_TOPIC_CONFIG": {"orders": "broker-a:8"}, "DEPLOYMENT": {"region": "eu"}},
    ["missing in the backup: broker broker-b: no answer"],
)
