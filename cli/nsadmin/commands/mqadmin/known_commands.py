"""Owns the list of mqadmin's commands: the 96 of 5.5.0 and the 5 of 4.9 that were removed.

Each has a note about how nsadmin differs. The registry knows which of them exist here under the same name.
"""

from typing import NamedTuple


class MqadminCommand(NamedTuple):
    """A command of mqadmin: its first release, how nsadmin differs, and the command that replaces it here."""

    name: str
    since_release: str
    note: str
    replacement_name: str | None = None


# name, first release, note, and the name of the command that replaces it here
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("addBroker", "5.0", "what is no container says so in a line; a dry run looks"),
    ("addWritePerm", "4.9.4", "an unknown broker is an error, not \"OK, 0\""),
    ("allocateMQ", "4.1", "queues are sorted, as clients sort them: the shares are those they really get"),
    ("brokerConsumeStats", "4.1", "queues that were never consumed are shown too; -t is the time-out in ms"),
    ("brokerStatus", "4.1", "an unknown cluster is an error; a broker that is dead is named"),
    ("checkMsgSendRT", "4.1", "says that it writes, and asks; why a message failed; -a 1 works"),
    ("checkRocksdbCqWriteProgress", "5.3.1", "only that cluster; who has nothing to compare says so"),
    ("cleanBrokerMetadata", "5.1.1", "finds who leads; says what is forgotten; an unknown id is an error"),
    ("cleanExpiredCQ", "4.1", "never all clusters by silence: -b ADDR or -c CLUSTER"),
    ("cleanUnusedTopic", "4.1", "never all clusters by silence: -b ADDR or -c CLUSTER; asks"),
    ("cloneGroupOffset", "4.1", "copies the topic that is named, not every topic of the group"),
    ("clusterList", "4.1", "brokers are asked at once; one that is dead is a row that says so, not zeros"),
    ("clusterRT", "4.1", "says that it writes, and asks; one round, unless -i wants more"),
    ("consumeMessage", "4.3", "joins no group: mqadmin's -g makes clients rebalance"),
    ("consumerConnection", "4.1", "every broker is asked and the answers merged, not one at random"),
    ("consumerProgress", "4.1", "finds groups without a retry topic too; what was never consumed has no lag"),
    ("consumerStatus", "4.1", "writes no files; says which queues nobody or two clients have"),
    ("copyAcl", "5.3.0", "a subject that the source lacks is named; entries of other resources stay"),
    ("copyUser", "5.3.0", "a user that the source lacks is named; says whose password is replaced"),
    ("createAcl", "5.3.0", "says what gives way; refuses what brokers take and misunderstand"),
    ("createUser", "5.3.0", "-p needs --passwordVisible: the password is asked for, piped in or in a file"),
    ("deleteAcl", "5.3.0", "-r takes several; what is not there is an error; Default policies go too"),
    ("deleteExpiredCommitLog", "4.9.4", "never all clusters by silence: -b ADDR or -c CLUSTER; asks"),
    ("deleteKvConfig", "4.1", "says what was deleted; a key that is nowhere is exit code 5"),
    ("deleteSubGroup", "4.1", "says what goes with the group and asks; --keep-topics keeps its dead letters"),
    ("deleteTopic", "4.1", "an unknown topic or cluster is an error; looks whether it is really gone"),
    ("deleteUser", "5.3.0", "an unknown user is an error; the others go on"),
    ("dumpCompactionLog", "5.1", "opens the file for reading only; what is damaged ends it with an error"),
    ("electMaster", "5.0", "finds who leads; says what changes, and asks"),
    ("exportConfigs", "4.9.4", "to standard output without -f; a missing master hides no other; --all"),
    ("exportMetadata", "4.9.4", "queues are not summed up (--sum); updateTopicList reads it; export is YAML"),
    ("exportMetadataInRocksDB", "5.1.4", "makes no folder where there is none; reads one store for all, too"),
    ("exportMetrics", "4.9.4", "rocketmqVersion is the broker's, not the tool's; unknown is null, not 0"),
    ("exportPopRecord", "5.3.2", "--dry-run shows; mqadmin's -d, which means the opposite, is refused"),
    ("getAcl", "5.3.0", "says which broker; no ACL is exit code 5"),
    ("getBrokerConfig", "4.1", "sorted; --filter key=NAME compares one setting on all brokers"),
    ("getBrokerEpoch", "5.0", "a broker that does not answer hides no other; a row for each epoch"),
    ("getBrokerLiteInfo", "5.5.0", "a broker that does not answer is a row that says why"),
    ("getColdDataFlowCtrInfo", "5.1.2", "rows; a broker without a master does not end it"),
    ("getConsumerConfig", "4.9.4", "a group that is nowhere is exit code 5; -c asks one cluster only"),
    ("getControllerConfig", "5.0", "one that is dead hides no other"),
    ("getControllerMetaData", "5.0", "-a takes a list; says where controllers disagree"),
    ("getLiteClientInfo", "5.5.0", "a client that subscribes nowhere is exit code 5; makes no group"),
    ("getLiteGroupInfo", "5.5.0", "what was never consumed is null, not 0; makes no group"),
    ("getLiteTopicInfo", "5.5.0", "a lite topic that is nowhere is exit code 5, not zeros"),
    ("getNamesrvConfig", "4.1", "a name server that is dead does not hide the others"),
    ("getParentTopicInfo", "5.5.0", 'what a broker refuses is said, not "error"'),
    ("getSyncStateSet", "5.0", "finds who leads, whoever is dead; an unknown broker is an error"),
    ("getUser", "5.3.0", "asks every broker, slaves too; never shows the password"),
    ("haStatus", "5.0", "-c asks slaves too; speeds are bytes per second"),
    ("listAcl", "5.3.0", "says which broker; asks slaves too"),
    ("listUser", "5.3.0", "asks every broker, says where they differ; never shows a password"),
    ("printMsg", "4.1", "stops after --maxNum messages and says so; bodies that are no text are base64"),
    ("printMsgByQueue", "4.1", "shows the messages unless told otherwise; --maxNum bounds it"),
    ("producer", "4.9.4", "all brokers, if none is named; --no-internal hides what every Java client has"),
    ("producerConnection", "4.1", "every broker is asked, not one at random; the topic may be left out"),
    ("queryCq", "4.1", "every broker of the route, and which one answered"),
    ("queryMsgById", "4.1", "asks before -g with -d and -s, which send it again; writes no file"),
    ("queryMsgByKey", "4.1", "says on which broker a message is, and which brokers did not answer"),
    ("queryMsgByOffset", "4.1", "no message there is an error, not silence"),
    ("queryMsgByUniqueKey", "4.1", "all that there are, of any age; asks before -g with -d"),
    ("queryMsgTraceById", "4.8", "transactions and the begin of consuming are shown too"),
    ("remappingStaticTopic", "5.0", "-mf carries on with a run that was stopped; mqadmin does not heed it"),
    ("removeBroker", "5.0", "a wrong identity is told in a line"),
    ("removeColdDataFlowCtrGroupConfig", "5.1.2", "a group without a threshold is exit code 5"),
    ("resetMasterFlushOffset", "5.0", "a master, which ignores it, is an error"),
    ("resetOffsetByTime", "4.1", "shows what each queue skips or repeats; -o 0 works; -c is a cluster"),
    ("rocksDBConfigToJson", "5.3.1", "-c is one cluster; a broker that writes nothing is not \"done\""),
    ("sendMessage", "4.3", "the body is sent as it is; --property adds properties; never creates the topic"),
    ("sendMsgStatus", "4.1", "says that it writes, and asks; a row for each message"),
    ("setCommitLogReadAheadMode", "5.1.2", "shows what was set before"),
    ("setConsumeMode", "5.0", "an unknown group is an error, not made; getConsumeMode reads it"),
    ("skipAccumulatedMessage", "4.9.4", "shows how many messages each queue skips, and asks"),
    ("startMonitoring", "4.1", "prints what it finds, joins no group; --once ends with a check's exit code"),
    ("statsAll", "4.1", "a broker that did not answer is named, not counted as 0"),
    ("switchTimerEngine", "5.5.0", "shows the settings before and after"),
    ("topicClusterList", "4.1", "all clusters of the topic, not that of its first broker"),
    ("topicList", "4.1", "--no-system hides RocketMQ's own topics; errors of -c are said"),
    ("topicRoute", "4.1", "rows, or with --json proper JSON; --raw is as the name server sent it"),
    ("topicStatus", "4.1", "the rate is not always 0; a broker that is dead does not hide the others"),
    ("triggerLiteDispatch", "5.5.0", "asks; makes no group of a name that is none"),
    ("updateAcl", "5.3.0", "shows what changes, resource by resource"),
    ("updateBrokerConfig", "4.1", "reads back: a key or value that the broker ignored is a failure; -a true"),
    ("updateColdDataFlowCtrGroupConfig", "5.1.2", "read back; what is no number is an error"),
    ("updateControllerConfig", "5.0", "reads back: a key or value that is ignored is a failure"),
    ("updateKvConfig", "4.1", "a row for each name server; kvGet and kvList read it back"),
    ("updateNamesrvConfig", "4.1", "reads back: a key or value that the server ignored is a failure"),
    ("updateOrderConf", "4.1", "the configuration is checked; says where clients do not get it"),
    ("updateStaticTopic", "5.0", "shows the plan and asks; -mf FILE is heeded; mappings are read back"),
    ("updateSubGroup", "4.1", "changes what is named and nothing else; mqadmin resets the rest to defaults"),
    ("updateSubGroupList", "5.3.1", "merges; what is there already is not sent; apply takes a whole plan"),
    ("updateTopic", "4.1", "changes what is named and nothing else; mqadmin resets the rest to defaults"),
    ("updateTopicList", "5.3.0", "one that is there already does not stop the others; apply takes a plan"),
    ("updateTopicPerm", "4.1", "queue counts and order stay as each broker has them"),
    ("updateUser", "5.3.0", "several things at once; -p needs --passwordVisible"),
    ("wipeWritePerm", "4.1", "an unknown broker is an error, not \"OK, 0\""),
)  # fmt: skip

# Commands of 4.9 that 5.5.0 no longer has.
_REMOVED_COMMANDS = tuple(
    (command_name, "4.6 to 5.3.2", note)
    for command_name, note in (
        ("clusterAclConfigVersion", "ACL of 4.x; times in UTC, slaves too"),
        ("deleteAclConfig", "ACL of 4.x; an unknown account is an error"),
        ("getAclConfig", "ACL of 4.x; never shows a secret key"),
        ("updateAclConfig", "ACL of 4.x; what is not named stays, admin too; -s needs --passwordVisible"),
        ("updateGlobalWhiteAddr", "ACL of 4.x; shows what was there before"),
    )
)

KNOWN_COMMANDS = tuple(
    MqadminCommand(command_name, since_release, note, *replacement_names)
    for command_name, since_release, note, *replacement_names in sorted(
        (*_COMMANDS, *_REMOVED_COMMANDS), key=lambda command_fields: command_fields[0].lower()
    )
)
