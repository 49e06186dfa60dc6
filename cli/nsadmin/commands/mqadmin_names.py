"""mqadmin's commands: all 96 of 5.5.0 and those of 4.9 that are no more, with what is otherwise here.

Whether a command is here under the same name is for the registry to say.
"""

from typing import NamedTuple


class Known(NamedTuple):
    """A command of mqadmin: since which release, what is otherwise here, what does its work here instead."""

    name: str
    since: str
    note: str
    instead: str | None = None


# name, since, note, and what does its work here under another name
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("addBroker", "5.0", "starts a broker in a container"),
    ("addWritePerm", "4.9.4", "an unknown broker is an error, not \"OK, 0\""),
    ("allocateMQ", "4.1", "queues are sorted, as clients sort them: the shares are those they really get"),
    ("brokerConsumeStats", "4.1", "queues that were never consumed are shown too; -t is the time-out in ms"),
    ("brokerStatus", "4.1", "an unknown cluster is an error; a broker that is dead is named"),
    ("checkMsgSendRT", "4.1", "writes test messages into a topic and times them"),
    ("checkRocksdbCqWriteProgress", "5.3.1", "the result is only in the broker's log"),
    ("cleanBrokerMetadata", "5.1.1", "makes a controller forget a broker"),
    ("cleanExpiredCQ", "4.1", "never all clusters by silence: -b ADDR or -c CLUSTER"),
    ("cleanUnusedTopic", "4.1", "never all clusters by silence: -b ADDR or -c CLUSTER; asks"),
    ("cloneGroupOffset", "4.1", "copies the topic that is named, not every topic of the group"),
    ("clusterList", "4.1", "brokers are asked at once; one that is dead is a row that says so, not zeros"),
    ("clusterRT", "4.1", "says that it writes, and asks; one round, unless -i wants more"),
    ("consumeMessage", "4.3", "joins no group: mqadmin's -g makes clients rebalance", "printMsg"),
    ("consumerConnection", "4.1", "every broker is asked and the answers merged, not one at random"),
    ("consumerProgress", "4.1", "finds groups without a retry topic too; what was never consumed has no lag"),
    ("consumerStatus", "4.1", "writes no files; says which queues nobody or two clients have"),
    ("copyAcl", "5.3.0", "copies ACLs from one broker to another"),
    ("copyUser", "5.3.0", "copies users from one broker to another"),
    ("createAcl", "5.3.0", "ACL 2.0"),
    ("createUser", "5.3.0", "ACL 2.0"),
    ("deleteAcl", "5.3.0", "ACL 2.0"),
    ("deleteExpiredCommitLog", "4.9.4", "has brokers delete expired files of the commit log now"),
    ("deleteKvConfig", "4.1", "says what was deleted; a key that is nowhere is exit code 5"),
    ("deleteSubGroup", "4.1", "says what goes with the group and asks; --keep-topics keeps its dead letters"),
    ("deleteTopic", "4.1", "an unknown topic or cluster is an error; looks whether it is really gone"),
    ("deleteUser", "5.3.0", "ACL 2.0"),
    ("dumpCompactionLog", "5.1", "reads a file of a broker"),
    ("electMaster", "5.0", "makes a controller elect a master"),
    ("exportConfigs", "4.9.4", "with -c CLUSTER --json: all settings, not 16 of them", "getBrokerConfig"),
    ("exportMetadata", "4.9.4", "topics and groups as a file"),
    ("exportMetadataInRocksDB", "5.1.4", "reads files of a broker"),
    ("exportMetrics", "4.9.4", "a report of load and versions as a file"),
    ("exportPopRecord", "5.3.2", "there, -d true is what changes something"),
    ("getAcl", "5.3.0", "ACL 2.0"),
    ("getBrokerConfig", "4.1", "sorted; --filter key=NAME compares one setting on all brokers"),
    ("getBrokerEpoch", "5.0", "epochs of brokers under a controller"),
    ("getBrokerLiteInfo", "5.5.0", "lite topics"),
    ("getColdDataFlowCtrInfo", "5.1.2", "flow control of cold reads"),
    ("getConsumerConfig", "4.9.4", "a group that is nowhere is exit code 5; -c asks one cluster only"),
    ("getControllerConfig", "5.0", "settings of controllers"),
    ("getControllerMetaData", "5.0", "leader and peers of controllers"),
    ("getLiteClientInfo", "5.5.0", "lite topics"),
    ("getLiteGroupInfo", "5.5.0", "lite topics"),
    ("getLiteTopicInfo", "5.5.0", "lite topics"),
    ("getNamesrvConfig", "4.1", "a name server that is dead does not hide the others"),
    ("getParentTopicInfo", "5.5.0", "lite topics"),
    ("getSyncStateSet", "5.0", "replicas in sync, as controllers see them"),
    ("getUser", "5.3.0", "ACL 2.0"),
    ("haStatus", "5.0", "-c asks slaves too; speeds are bytes per second"),
    ("listAcl", "5.3.0", "ACL 2.0"),
    ("listUser", "5.3.0", "ACL 2.0"),
    ("printMsg", "4.1", "stops after --maxNum messages and says so; bodies that are no text are base64"),
    ("printMsgByQueue", "4.1", "shows the messages unless told otherwise; --maxNum bounds it"),
    ("producer", "4.9.4", "all brokers, if none is named; --no-internal hides what every Java client has"),
    ("producerConnection", "4.1", "every broker is asked, not one at random; the topic may be left out"),
    ("queryCq", "4.1", "raw entries of a consume queue"),
    ("queryMsgById", "4.1", "asks before -g with -d and -s, which send it again; writes no file"),
    ("queryMsgByKey", "4.1", "says on which broker a message is, and which brokers did not answer"),
    ("queryMsgByOffset", "4.1", "no message there is an error, not silence"),
    ("queryMsgByUniqueKey", "4.1", "all that there are, of any age; asks before -g with -d"),
    ("queryMsgTraceById", "4.8", "transactions and the begin of consuming are shown too"),
    ("remappingStaticTopic", "5.0", "static topics"),
    ("removeBroker", "5.0", "stops a broker in a container"),
    ("removeColdDataFlowCtrGroupConfig", "5.1.2", "flow control of cold reads"),
    ("resetMasterFlushOffset", "5.0", "what a slave takes for its master's flushed offset"),
    ("resetOffsetByTime", "4.1", "shows what each queue skips or repeats; -o 0 works; -c is a cluster"),
    ("rocksDBConfigToJson", "5.3.1", "has brokers export their metadata"),
    ("sendMessage", "4.3", "the body is sent as it is; --property adds properties; never creates the topic"),
    ("sendMsgStatus", "4.1", "says that it writes, and asks; a row for each message"),
    ("setCommitLogReadAheadMode", "5.1.2", "how brokers read their commit log ahead"),
    ("setConsumeMode", "5.0", "switches a group between pull and pop"),
    ("skipAccumulatedMessage", "4.9.4", "shows how many messages each queue skips, and asks"),
    ("startMonitoring", "4.1", "with --watch 60: joins no group, prints to stdout", "consumerProgress"),
    ("statsAll", "4.1", "a broker that did not answer is named, not counted as 0"),
    ("switchTimerEngine", "5.5.0", "the engine of timed messages"),
    ("topicClusterList", "4.1", "all clusters of the topic, not that of its first broker"),
    ("topicList", "4.1", "--no-system hides RocketMQ's own topics; errors of -c are said"),
    ("topicRoute", "4.1", "rows, or with --json proper JSON; --raw is as the name server sent it"),
    ("topicStatus", "4.1", "the rate is not always 0; a broker that is dead does not hide the others"),
    ("triggerLiteDispatch", "5.5.0", "lite topics"),
    ("updateAcl", "5.3.0", "ACL 2.0"),
    ("updateBrokerConfig", "4.1", "reads back: a key or value that the broker ignored is a failure; -a true"),
    ("updateColdDataFlowCtrGroupConfig", "5.1.2", "flow control of cold reads"),
    ("updateControllerConfig", "5.0", "settings of controllers"),
    ("updateKvConfig", "4.1", "a row for each name server; kvGet and kvList read it back"),
    ("updateNamesrvConfig", "4.1", "reads back: a key or value that the server ignored is a failure"),
    ("updateOrderConf", "4.1", "the configuration is checked; says where clients do not get it"),
    ("updateStaticTopic", "5.0", "static topics"),
    ("updateSubGroup", "4.1", "changes what is named and nothing else; mqadmin resets the rest to defaults"),
    ("updateSubGroupList", "5.3.1", "many groups from a file"),
    ("updateTopic", "4.1", "changes what is named and nothing else; mqadmin resets the rest to defaults"),
    ("updateTopicList", "5.3.0", "many topics from a file"),
    ("updateTopicPerm", "4.1", "queue counts and order stay as each broker has them"),
    ("updateUser", "5.3.0", "ACL 2.0"),
    ("wipeWritePerm", "4.1", "an unknown broker is an error, not \"OK, 0\""),
)  # fmt: skip

# 4.9 has them, 5.5.0 does not.
_GONE = tuple(
    (name, "4.6 to 5.3.2", "ACL 1.0, of brokers with aclEnable")
    for name in (
        "clusterAclConfigVersion",
        "deleteAclConfig",
        "getAclConfig",
        "updateAclConfig",
        "updateGlobalWhiteAddr",
    )
)

KNOWN = tuple(
    Known(name, since, note, *instead)
    for name, since, note, *instead in sorted((*_COMMANDS, *_GONE), key=lambda item: item[0].lower())
)
