"""What response codes and exceptions of clients mean: the table of `nsadmin errors` and our own advice."""

import re
from typing import NamedTuple

from namesrv_core.errors import ResponseCode

_BUSY_ADVICE = "the server is overloaded: try again later"
_CODE_PATTERN = re.compile(r"(?:code|CODE)[\s:=(]{0,4}(\d{1,5})\b")


class ErrorMeaning(NamedTuple):
    """An error: its code (None for one of a client), and parts of its text in lower case.

    `command` finds out more; names in capitals are to be replaced. `advice` is what our own message adds.
    """

    code: int | None
    name: str
    texts: tuple[str, ...]
    meaning: str
    causes: str
    command: str
    advice: str | None = None


# Code or name or both, parts of the text, then the fields of ErrorMeaning.
_TABLE: tuple[tuple[ResponseCode | str | tuple[int, str], *tuple[str, ...]], ...] = (
    (
        ResponseCode.SYSTEM_ERROR,
        "create mapped file failed",
        "the server failed; its remark has a Java exception",
        "a setting that the request needs is off, a file of the store that it cannot create (disk, memory), "
        "or a fault: see the server's log at this time",
        "nsadmin brokerStatus -b BROKER",
    ),
    (
        ResponseCode.SYSTEM_BUSY,
        "timeout_clean_queue|broker busy|system busy|too many requests and system thread pool "
        "busy|pcbusy_clean_queue|[overload]",
        "the broker rejected the request, because it waited too long or could not be stored in time",
        "slow disk, page cache busy, too few threads or a queue that is too short for the load "
        "(waitTimeMillsInSendQueue, sendThreadPoolQueueCapacity, osPageCacheBusyTimeOutMills)",
        "nsadmin broker explain BROKER",
        _BUSY_ADVICE,
    ),
    (
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        "request type|not supported",
        "the server does not know the request",
        "its version is too old, or the address is that of another kind of server",
        "nsadmin brokerStatus -b BROKER",
        "the server's version is too old, or it is another kind of server: nsadmin clusterList "
        "lists the brokers with their versions",
    ),
    (
        ResponseCode.TRANSACTION_FAILED,
        "",
        "the transaction could not be ended",
        "its half message is gone, or belongs to another producer group",
        "nsadmin queryMsgById TOPIC MSGID",
    ),
    (
        ResponseCode.FLUSH_DISK_TIMEOUT,
        "flush_disk_timeout",
        "the message is in memory, but was not on disk in time (flushDiskType=SYNC_FLUSH)",
        "a slow disk; syncFlushTimeout is too short",
        "nsadmin clusterList",
    ),
    (
        ResponseCode.SLAVE_NOT_AVAILABLE,
        "slave_not_available",
        "the message is on the master only: no slave is in sync (brokerRole=SYNC_MASTER)",
        "the slave is down, too far behind, or connects to another address",
        "nsadmin check replicas",
    ),
    (
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        "flush_slave_timeout",
        "the message is on the master, but the slave did not confirm it in time",
        "a slow slave or network; syncFlushTimeout or slaveTimeout is too short",
        "nsadmin haStatus -b BROKER",
    ),
    (
        ResponseCode.MESSAGE_ILLEGAL,
        "the message is illegal|message body size over max value|the message body size over "
        "max|message illegal|body length|msg body size",
        "the broker or the client refuses the message itself",
        "body larger than maxMessageSize (4 MiB), properties over 32 KiB, topic name over 127 characters",
        "nsadmin getBrokerConfig -b BROKER --filter key=maxMessageSize",
    ),
    (
        ResponseCode.SERVICE_NOT_AVAILABLE,
        "service not available now|disk full|the broker's disk is full|maybe your broker machine memory too "
        "small",
        "the broker stores no messages now",
        "its disk is full, it is a slave, it starts or stops, or it failed to write a file of its store "
        "(see its store.log)",
        "nsadmin broker explain BROKER",
        "the broker starts or stops, or its disk is full, or it is a slave: run nsadmin check brokers",
    ),
    (
        ResponseCode.NO_PERMISSION,
        "no permission|sending message is forbidden|pulling message is forbidden|consumed message is "
        "forbidden|subscription group no permission",
        "the server does not allow it",
        "permission of the broker or the topic without w or r, consumeEnable=false of the group, or the user "
        "lacks the right or is disabled: nsadmin getAcl USER shows its rights",
        "nsadmin route explain TOPIC",
        "the server forbids this: by a setting, by a permission of broker or topic, or to your user "
        "(nsadmin where shows the credentials)",
    ),
    (
        ResponseCode.TOPIC_NOT_EXIST,
        "no topic route info in name server|topic not exist|no route info of this topic|route info of"
        " this topic",
        "the server does not know the topic",
        "the topic does not exist, is on no living broker, or the client uses other name servers; "
        "autoCreateTopicEnable is off",
        "nsadmin route explain TOPIC",
        "run nsadmin topicList to list the topics",
    ),
    (
        ResponseCode.PULL_NOT_FOUND,
        "",
        "no message at this offset yet",
        "normal: the consumer is at the end of the queue",
        "nsadmin group explain GROUP",
    ),
    (
        ResponseCode.PULL_RETRY_IMMEDIATELY,
        "",
        "no message of this batch matches the filter",
        "normal, unless the filter matches nothing at all",
        "nsadmin consumerConnection -g GROUP",
    ),
    (
        ResponseCode.PULL_OFFSET_MOVED,
        "offset_moved_event|the offset is illegal|offset_illegal",
        "the offset of the consumer is outside the queue",
        "its messages expired before they were read, or the store of the broker was deleted",
        "nsadmin topicStatus TOPIC --times -g GROUP",
    ),
    (
        ResponseCode.QUERY_NOT_FOUND,
        "query_not_found|can not find message|no message, topic=",
        "the broker has nothing of this kind: no message, offset or value",
        "the message expired, the id is that of another cluster, or the group has no offset yet",
        "nsadmin queryMsgById TOPIC MSGID",
    ),
    (
        ResponseCode.SUBSCRIPTION_PARSE_FAILED,
        "parse the consumer's subscription failed|does not support consumer to filter message by sql92",
        "the broker cannot use the filter of the consumer",
        "wrong SQL, or enablePropertyFilter is off",
        "nsadmin consumerConnection -g GROUP",
    ),
    (
        ResponseCode.SUBSCRIPTION_NOT_EXIST,
        "the consumer's subscription not exist|the consumer's group info not exist",
        "the broker does not know the subscription of the group",
        "the client has sent no heartbeat to this broker yet, or members of the group have other topics",
        "nsadmin consumerConnection -g GROUP",
    ),
    (
        ResponseCode.SUBSCRIPTION_NOT_LATEST,
        "the consumer's subscription not latest",
        "the broker knows another version of the subscription",
        "members of the group subscribe with different tags or filters",
        "nsadmin consumerConnection -g GROUP",
    ),
    (
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        "subscription group not exist|subscription group [|does not exist, http",
        "the broker does not have the consumer group",
        "the group was not created there, and autoCreateSubscriptionGroup is off",
        "nsadmin getConsumerConfig GROUP",
        "run nsadmin consumerProgress to list the groups",
    ),
    (
        ResponseCode.INVALID_PARAMETER,
        "",
        "the server refuses a value of the request",
        "its remark names the value: a system topic, a blank name or a number out of range",
        "nsadmin brokerStatus -b BROKER",
    ),
    (
        ResponseCode.CONSUMER_NOT_ONLINE,
        "not online|no client of the group is connected",
        "no client of the group is connected to this broker",
        "all consumers are down, connect through a proxy, or use another namespace",
        "nsadmin group explain GROUP",
    ),
    (
        ResponseCode.CONSUME_MSG_TIMEOUT,
        "",
        "the client did not process the message in time",
        "a listener that hangs, or all threads of the consumer are busy",
        "nsadmin consumerStatus -g GROUP",
    ),
    (
        ResponseCode.POLLING_FULL,
        "polling full",
        "too many requests of POP clients wait on the broker",
        "more waiting clients than maxPopPollingSize or popPollingSize allows",
        "nsadmin getBrokerConfig -b BROKER",
    ),
    (
        ResponseCode.FLOW_CONTROL,
        "flow control|exceed quota|rate limit",
        "the server limits the rate of requests",
        "more messages than its limit: spread the load, or add brokers",
        "nsadmin statsAll TOPIC",
        _BUSY_ADVICE,
    ),
    (
        ResponseCode.NOT_LEADER_FOR_QUEUE,
        "cannot find mapping item|not leader for queue",
        "the queue of a static topic is on another broker now",
        "it was moved a moment ago, and the client has an old route",
        "nsadmin topicRoute TOPIC",
        "the queue is on another broker now: try again in 30 seconds, when the route has changed",
    ),
    (
        ResponseCode.GO_AWAY,
        "go_away|goaway",
        "the server closes the connection before it stops",
        "a restart of the proxy or broker: clients connect again by themselves",
        "nsadmin clusterList",
    ),
    (
        ResponseCode.CONTROLLER_NOT_LEADER,
        "",
        "the controller is not the leader",
        "the address is that of another controller",
        "nsadmin getControllerMetaData -a ADDR",
    ),
    (
        ResponseCode.CONTROLLER_ELECT_MASTER_FAILED,
        "",
        "the controller elected no master",
        "no replica in sync is alive",
        "nsadmin getSyncStateSet -a ADDR -b BROKER",
    ),
    (
        ResponseCode.LMQ_QUOTA_EXCEEDED,
        "",
        "the broker has as many lite topics as it allows",
        "clients create lite topics without end",
        "nsadmin getBrokerConfig -b BROKER",
    ),
    (
        ResponseCode.USER_NOT_EXIST,
        "",
        "the broker does not have the user",
        "it was created on another broker only",
        "nsadmin listUser -b BROKER",
        "run nsadmin listUser {target} to list the users",
    ),
    (
        ResponseCode.POLICY_NOT_EXIST,
        "",
        "the broker does not have the ACL",
        "it was created on another broker only",
        "nsadmin listAcl -b BROKER",
    ),
    (
        (10001, "RemotingConnectException"),
        "remotingconnectexception|connect to|connect_broker_exception",
        "the client cannot open a connection",
        "the server is down, a firewall blocks the port, or the broker registers an address that clients "
        "cannot reach (brokerIP1)",
        "nsadmin check brokers",
    ),
    (
        (10002, "RemotingTimeoutException"),
        "remotingtimeoutexception|wait response on the channel|invokesync call "
        "timeout|senddefaultimpl call timeout|sendkernelimpl call timeout|access_broker_timeout",
        "the server did not answer in time",
        "long garbage collections, a slow disk, a network at its limit, or a timeout that is too short for "
        "the batch",
        "nsadmin clusterList",
    ),
    (
        "RemotingTooMuchRequestException",
        "remotingtoomuchrequestexception",
        "the client had no time left before it could send",
        "it waited for the route or a connection, or too many asynchronous sends run at once",
        "nsadmin check namesrv",
    ),
    (
        (10003, "BrokerNotExistException"),
        "the broker[|broker_not_exist_exception",
        "the route names a broker that the client knows no address of",
        "the broker is gone, and an order configuration or an old route still names it",
        "nsadmin route explain TOPIC",
    ),
    (
        (10004, "NoNameServerException"),
        "no name server address|please set it|connect to null failed|no_name_server_exception",
        "the client has no name server that answers",
        "its namesrvAddr is empty or wrong, or all name servers are down",
        "nsadmin check namesrv",
    ),
    (
        "group created before",
        "has been created before",
        "the program has two clients of this group in one JVM",
        "give each a group or an instanceName of its own",
        "nsadmin consumerConnection -g GROUP",
    ),
    (
        "no matched consumer",
        "no matched consumer for the pullrequest|the producergroup[|illegal state",
        "the client was stopped, or its group was removed, while it worked",
        "the application stopped or was deployed again; harmless unless it comes back",
        "nsadmin consumerConnection -g GROUP",
    ),
    (
        "MQClientException",
        "",
        "the client itself gave up; the text of the exception has the reason",
        "no route, no name server, an invalid message, or a cause that the stack trace shows",
        "nsadmin check namesrv",
    ),
    (
        "MQBrokerException",
        "",
        "the broker answered with an error; CODE in the text of the exception is its response code",
        "look up the code with nsadmin errors",
        "nsadmin broker explain BROKER",
    ),
    (
        "AclException",
        "aclexception|check signature failed|no accesskey is configured|user not found|acl auth error",
        "the server does not accept the credentials",
        "wrong access key or secret key, or a user that exists on another broker only",
        "nsadmin listUser -b BROKER",
    ),
    (
        "SSLHandshakeException",
        "sslhandshakeexception|notsslrecordexception|received fatal alert|unable to find valid "
        "certification path",
        "client and server do not agree about TLS",
        "one side speaks plain text, or does not trust the certificate of the other",
        "nsadmin check certificates",
    ),
)


def _make_meaning(kind: ResponseCode | str | tuple[int, str], texts: str, *fields: str) -> ErrorMeaning:
    if isinstance(kind, ResponseCode):
        kind = (int(kind), kind.name)
    code, name = (None, kind) if isinstance(kind, str) else kind
    return ErrorMeaning(code, name, tuple(filter(None, texts.split("|"))), *fields)


ERROR_MEANINGS = tuple(_make_meaning(*row) for row in _TABLE)


def find_meanings(text: str) -> list[ErrorMeaning]:
    """The errors of a code, a name or a text such as a line of a log; the best matches only."""
    wanted = text.strip().lower()
    if wanted.isdecimal():
        return [m for m in ERROR_MEANINGS if m.code == int(wanted)]
    named = [m for m in ERROR_MEANINGS if m.name.lower() == wanted.rpartition(".")[2]]
    # Logs have [PCBUSY_CLEAN_QUEUE]broker busy; people type BROKER_BUSY.
    searched = f"{wanted}\n{wanted.replace('_', ' ')}"
    by_text = [m for m in ERROR_MEANINGS if any(part in searched for part in m.texts)]
    code = _CODE_PATTERN.search(text)
    by_code = [m for m in ERROR_MEANINGS if code is not None and m.code == int(code[1])]
    found = named or [*by_code, *(m for m in by_text if m not in by_code)]
    return found or [
        m for m in ERROR_MEANINGS if wanted in f"{m.name} {m.meaning} {' '.join(m.texts)}".lower()
    ]
