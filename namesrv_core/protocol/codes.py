"""The protocol's numbers: request codes, flag bits, languages, versions and permissions."""

from collections.abc import Iterator
from enum import IntEnum, IntFlag
from typing import Self


class AccessRole(IntEnum):
    """Each role includes the permissions of the roles before it.

    There is one exception: a broker does not have an observer's permission to read what only an admin reads.
    """

    NONE = 0
    READ = 1
    OBSERVER = 2
    BROKER = 3
    ADMIN = 4


# What the table of request codes says: whether a request changes something, and who may send it.
READS, CHANGES = False, True
NAME_SERVERS_DO_NOT_KNOW: frozenset[AccessRole] = frozenset()
ADMINS = frozenset({AccessRole.ADMIN})
OBSERVERS = frozenset({AccessRole.OBSERVER, AccessRole.ADMIN})
BROKERS = frozenset({AccessRole.BROKER, AccessRole.ADMIN})
WATCHERS = OBSERVERS | BROKERS
READERS = WATCHERS | {AccessRole.READ}


class RequestCode(IntEnum):
    """Codes that name servers answer, and codes of brokers that this project sends or answers.

    `changes`: the request changes something that an operator decides. Clients never retry it, read-only
    clients and read-only name servers refuse it, and the audit records it. Registrations are not among them.
    `senders`: the roles that may send it to a name server. Requests of BROKERS act on one broker.
    """

    _value_: int
    changes: bool
    senders: frozenset[AccessRole]

    def __new__(
        cls, number: int, changes: bool = READS, senders: frozenset[AccessRole] = NAME_SERVERS_DO_NOT_KNOW
    ) -> Self:
        member = int.__new__(cls, number)
        member._value_, member.changes, member.senders = number, changes, senders
        return member

    PULL_MESSAGE = 11
    QUERY_MESSAGE = 12
    QUERY_CONSUMER_OFFSET = 14
    UPDATE_CONSUMER_OFFSET = 15, CHANGES
    UPDATE_AND_CREATE_TOPIC = 17, CHANGES
    UPDATE_AND_CREATE_TOPIC_LIST = 18, CHANGES
    GET_ALL_TOPIC_CONFIG = 21
    UPDATE_BROKER_CONFIG = 25, CHANGES
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    VIEW_MESSAGE_BY_ID = 33
    END_TRANSACTION = 37, CHANGES
    GET_ALL_CONSUMER_OFFSET = 43
    UPDATE_AND_CREATE_ACL_CONFIG = 50, CHANGES
    DELETE_ACL_CONFIG = 51, CHANGES
    GET_BROKER_CLUSTER_ACL_INFO = 52
    UPDATE_GLOBAL_WHITE_ADDRS_CONFIG = 53, CHANGES
    GET_BROKER_CLUSTER_ACL_CONFIG = 54
    PUT_KV_CONFIG = 100, CHANGES, ADMINS
    GET_KV_CONFIG = 101, READS, OBSERVERS
    DELETE_KV_CONFIG = 102, CHANGES, ADMINS
    REGISTER_BROKER = 103, READS, BROKERS
    UNREGISTER_BROKER = 104, READS, BROKERS
    GET_ROUTEINFO_BY_TOPIC = 105, READS, READERS
    GET_BROKER_CLUSTER_INFO = 106, READS, READERS
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200, CHANGES
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_PRODUCER_CONNECTION_LIST = 204
    WIPE_WRITE_PERM_OF_BROKER = 205, CHANGES, ADMINS
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206, READS, READERS
    DELETE_SUBSCRIPTIONGROUP = 207, CHANGES
    GET_CONSUME_STATS = 208
    DELETE_TOPIC_IN_BROKER = 215, CHANGES
    DELETE_TOPIC_IN_NAMESRV = 216, CHANGES, ADMINS
    REGISTER_TOPIC_IN_NAMESRV = 217, CHANGES, BROKERS
    GET_KVLIST_BY_NAMESPACE = 219, READS, OBSERVERS
    INVOKE_BROKER_TO_RESET_OFFSET = 222, CHANGES
    GET_TOPICS_BY_CLUSTER = 224, READS, READERS
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST = 225, CHANGES
    QUERY_TOPIC_CONSUME_BY_WHO = 300
    QUERY_CONSUME_TIME_SPAN = 303
    GET_SYSTEM_TOPIC_LIST_FROM_NS = 304, READS, READERS
    GET_SYSTEM_TOPIC_LIST_FROM_BROKER = 305
    CLEAN_EXPIRED_CONSUMEQUEUE = 306, CHANGES
    GET_CONSUMER_RUNNING_INFO = 307
    CONSUME_MESSAGE_DIRECTLY = 309, CHANGES
    SEND_MESSAGE_V2 = 310, CHANGES
    GET_UNIT_TOPIC_LIST = 311, READS, READERS
    GET_HAS_UNIT_SUB_TOPIC_LIST = 312, READS, READERS
    GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST = 313, READS, READERS
    VIEW_BROKER_STATS_DATA = 315
    CLEAN_UNUSED_TOPIC = 316, CHANGES
    GET_BROKER_CONSUME_STATS = 317
    UPDATE_NAMESRV_CONFIG = 318, CHANGES, ADMINS
    GET_NAMESRV_CONFIG = 319, READS, OBSERVERS
    SEND_BATCH_MESSAGE = 320, CHANGES
    QUERY_CONSUME_QUEUE = 321
    QUERY_DATA_VERSION = 322, READS, BROKERS
    RESUME_CHECK_HALF_MESSAGE = 323, CHANGES
    ADD_WRITE_PERM_OF_BROKER = 327, CHANGES, ADMINS
    GET_ALL_PRODUCER_INFO = 328
    DELETE_EXPIRED_COMMITLOG = 329, CHANGES
    GET_TOPIC_CONFIG = 351
    CHECK_ROCKSDB_CQ_WRITE_PROGRESS = 354
    EXPORT_ROCKSDB_CONFIG_TO_JSON = 355
    UPDATE_AND_GET_GROUP_FORBIDDEN = 353, CHANGES
    RECALL_MESSAGE = 370, CHANGES
    SET_MESSAGE_REQUEST_MODE = 401, CHANGES
    GET_ALL_MESSAGE_REQUEST_MODE = 402
    UPDATE_AND_CREATE_STATIC_TOPIC = 513, CHANGES
    GET_BROKER_MEMBER_GROUP = 901, READS, WATCHERS
    ADD_BROKER = 902, CHANGES
    REMOVE_BROKER = 903, CHANGES
    BROKER_HEARTBEAT = 904, READS, BROKERS
    NOTIFY_MIN_BROKER_ID_CHANGE = 905
    GET_BROKER_HA_STATUS = 907
    RESET_MASTER_FLUSH_OFFSET = 908, CHANGES
    CONTROLLER_ELECT_MASTER = 1002, CHANGES
    CONTROLLER_GET_METADATA_INFO = 1005
    CONTROLLER_GET_SYNC_STATE_DATA = 1006
    GET_BROKER_EPOCH_CACHE = 1007
    UPDATE_CONTROLLER_CONFIG = 1009, CHANGES
    GET_CONTROLLER_CONFIG = 1010
    CLEAN_BROKER_DATA = 1011, CHANGES
    UPDATE_COLD_DATA_FLOW_CTR_CONFIG = 2001, CHANGES
    REMOVE_COLD_DATA_FLOW_CTR_CONFIG = 2002, CHANGES
    GET_COLD_DATA_FLOW_CTR_INFO = 2003
    SET_COMMITLOG_READ_MODE = 2004, CHANGES
    AUTH_CREATE_USER = 3001, CHANGES
    AUTH_UPDATE_USER = 3002, CHANGES
    AUTH_DELETE_USER = 3003, CHANGES
    AUTH_GET_USER = 3004
    AUTH_LIST_USER = 3005
    AUTH_CREATE_ACL = 3006, CHANGES
    AUTH_UPDATE_ACL = 3007, CHANGES
    AUTH_DELETE_ACL = 3008, CHANGES
    AUTH_GET_ACL = 3009
    AUTH_LIST_ACL = 3010
    SWITCH_TIMER_ENGINE = 5001, CHANGES
    DELETE_TOPIC_IN_BROKER_LIST = 5002, CHANGES
    DELETE_SUBSCRIPTION_GROUP_LIST = 5003, CHANGES
    POP_ROLLBACK = 200056, CHANGES
    GET_BROKER_LITE_INFO = 200074
    GET_PARENT_TOPIC_INFO = 200075
    GET_LITE_TOPIC_INFO = 200076
    GET_LITE_CLIENT_INFO = 200077
    GET_LITE_GROUP_INFO = 200078
    TRIGGER_LITE_DISPATCH = 200079, CHANGES

    @classmethod
    def find(cls, number: int) -> "RequestCode | None":
        """The code with this number, or None for an unknown one."""
        found = cls._value2member_map_.get(number)
        return found if isinstance(found, cls) else None

    @classmethod
    def is_change(cls, number: int) -> bool:
        """Whether the request with this number changes something. An unknown request does not."""
        code = cls.find(number)
        return code is not None and code.changes

    @classmethod
    def name_of(cls, number: int) -> str:
        """The name of a code, or "request 9999"."""
        code = cls.find(number)
        return f"request {number}" if code is None else code.name


class HeaderType(IntEnum):
    """The form of a header: the first byte of the header-length word."""

    JSON = 0
    ROCKETMQ = 1


RESPONSE_FLAG = 1
ONEWAY_FLAG = 2

# The index is the byte of LanguageCode in the binary header.
LANGUAGE_NAMES = (
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY",
    "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
)  # fmt: skip

V3_0_11 = 37
"""From this version on REGISTER_BROKER carries a RegisterBrokerBody. Older brokers send the bare wrapper."""
V4_9_3 = 399
"""Up to this version 5.x leaves _UNIQUE_KEY_QUERY out of the signed content."""
V4_9_4 = 401
"""From this version on clients receive routes in the standard JSON dialect."""
V5_0_0 = 413
"""From this version on a compressed registration ends with its queue mappings."""
V5_5_0 = 513
"""The version that this project puts into every command that it sends."""


def _list_version_names() -> Iterator[str]:
    """Yield the names of `MQVersion.Version` of 5.5.0 in the order of their ordinals."""
    yield from ("V3_0_0_SNAPSHOT", "V3_0_0_ALPHA1", *(f"V3_0_0_BETA{number}" for number in range(1, 6)))
    for number in range(6, 10):
        yield from (f"V3_0_0_BETA{number}_SNAPSHOT", f"V3_0_0_BETA{number}")
    yield "V3_0_0_FINAL"
    minor_releases = [(3, 0, range(1, 16)), (3, 1, range(10)), (3, 2, range(10))]
    minor_releases += [(3, minor, range(1, 10)) for minor in range(3, 10)]
    minor_releases += [(major, minor, range(10)) for major in (4, 5) for minor in range(10)]
    for major, minor, patches in minor_releases:
        for patch in patches:
            yield from (f"V{major}_{minor}_{patch}_SNAPSHOT", f"V{major}_{minor}_{patch}")


VERSION_NAMES = tuple(_list_version_names())
"""The index is the ordinal."""


def version_text(version_ordinal: int) -> str | None:
    """Name a `MQVersion.Version` by its ordinal as mqadmin: 513 -> "V5_5_0", 612 -> "HIGHER_VERSION".

    A negative ordinal has no name.
    """
    if version_ordinal < 0:
        return None
    return VERSION_NAMES[version_ordinal] if version_ordinal < len(VERSION_NAMES) else "HIGHER_VERSION"


class Perm(IntFlag):
    """Permission bits of a topic's queues on one broker (`PermName`)."""

    INHERIT = 1
    WRITE = 2
    READ = 4
    PRIORITY = 8


def perm_text(perm: int) -> str:
    """Write permission bits as operators of `mqadmin` read them: 6 -> "rw-", 4 -> "r--", 7 -> "rwi"."""
    return "".join(
        letter if perm & bit else "-"
        for letter, bit in (("r", Perm.READ), ("w", Perm.WRITE), ("i", Perm.INHERIT))
    ) + ("p" if perm & Perm.PRIORITY else "")  # fmt: skip


TOPIC_SYS_FLAG_UNIT = 1
TOPIC_SYS_FLAG_UNIT_SUB = 2
MASTER_BROKER_ID = 0
