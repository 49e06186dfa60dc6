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
    ("addBroker", "5.0", "reports a server that is not a container; has a dry run"),
    ("addWritePerm", "4.9.4", 'an unknown broker is an error, not "OK, 0"'),
    ("allocateMQ", "4.1", "sorts queues like clients do, so the shares are the real ones"),
    ("brokerConsumeStats", "4.1", "also shows queues without a consumer offset; -t is the timeout in ms"),
    ("brokerStatus", "4.1", "an unknown cluster is an error; names dead brokers"),
    ("checkMsgSendRT", "4.1", "confirms before it writes, shows why a message failed; -a 1 works"),
    ("checkRocksdbCqWriteProgress", "5.3.1", "asks only that cluster; reports masters without both kinds"),
    ("cleanBrokerMetadata", "5.1.1", "finds the leader, shows removed replicas; an unknown id fails"),
    ("cleanExpiredCQ", "4.1", "needs -b ADDR or -c CLUSTER, not all clusters"),
    ("cleanUnusedTopic", "4.1", "needs -b ADDR or -c CLUSTER, not all clusters; confirms"),
    ("cloneGroupOffset", "4.1", "copies only the given topic, not every topic of the group"),
    ("clusterList", "4.1", "asks all brokers at once; a dead broker is a row with an error, not zeros"),
    ("clusterRT", "4.1", "confirms before it writes; one round, unless -i is passed"),
    ("consumeMessage", "4.3", "joins no group: mqadmin's -g makes clients rebalance"),
    ("consumerConnection", "4.1", "asks every broker and merges the answers; mqadmin asks a random one"),
    ("consumerProgress", "4.1", "also finds groups without a retry topic; no lag without an offset"),
    ("consumerStatus", "4.1", "writes no files; shows queues without an owner or with two"),
    ("copyAcl", "5.3.0", "names a subject that the source lacks; entries of other resources stay"),
    ("copyUser", "5.3.0", "names a user that the source lacks; shows whose password is replaced"),
    ("createAcl", "5.3.0", "shows which entries are replaced; refuses input that brokers misread"),
    ("createUser", "5.3.0", "-p needs --passwordVisible: use a prompt, standard input or a file instead"),
    ("deleteAcl", "5.3.0", "-r takes several, a missing entry is an error; deletes Default policies"),
    ("deleteExpiredCommitLog", "4.9.4", "needs -b ADDR or -c CLUSTER, not all clusters; confirms"),
    ("deleteKvConfig", "4.1", "shows the deleted value; a missing key is exit code 5"),
    ("deleteSubGroup", "4.1", "shows what is deleted with the group, and confirms; --keep-topics"),
    ("deleteTopic", "4.1", "an unknown topic or cluster is an error; verifies the deletion"),
    ("deleteUser", "5.3.0", "an unknown user is an error; the other brokers still change"),
    ("dumpCompactionLog", "5.1", "opens the file only for reading; stops at damage with an error"),
    ("electMaster", "5.0", "finds the leader, shows the change; -bn is the broker, -n the name servers"),
    ("exportConfigs", "4.9.4", "prints without -f, has --all; a missing master does not hide others"),
    ("exportMetadata", "4.9.4", "adds up queues only with --sum; updateTopicList reads it"),
    ("exportMetadataInRocksDB", "5.1.4", "creates no folder; also reads a single store for all tables"),
    ("exportMetrics", "4.9.4", "rocketmqVersion is the broker's; unknown values are null, not 0"),
    ("exportPopRecord", "5.3.2", "use --dry-run; refuses mqadmin's -d, which means the opposite"),
    ("getAcl", "5.3.0", "names the broker; a missing ACL is exit code 5"),
    ("getBrokerConfig", "4.1", "sorted; --filter key=NAME compares one setting on all brokers"),
    ("getBrokerEpoch", "5.0", "a dead broker does not hide the others; a row for each epoch"),
    ("getBrokerLiteInfo", "5.5.0", "a dead broker is a row with the reason"),
    ("getColdDataFlowCtrInfo", "5.1.2", "rows; a broker without a master does not stop it"),
    ("getConsumerConfig", "4.9.4", "an unknown group is exit code 5; -c asks only one cluster"),
    ("getControllerConfig", "5.0", "a dead server does not hide the others"),
    ("getControllerMetaData", "5.0", "-a takes a list; reports controllers that disagree"),
    ("getLiteClientInfo", "5.5.0", "a client without subscriptions is exit code 5; creates no group"),
    ("getLiteGroupInfo", "5.5.0", "a topic that was never consumed has null, not 0; creates no group"),
    ("getLiteTopicInfo", "5.5.0", "an unknown lite topic is exit code 5, not zeros"),
    ("getNamesrvConfig", "4.1", "a dead name server does not hide the others"),
    ("getParentTopicInfo", "5.5.0", 'shows the reason of a refusal, not "error"'),
    ("getSyncStateSet", "5.0", "finds the leader if controllers are dead; an unknown broker is an error"),
    ("getUser", "5.3.0", "asks every broker, also slaves; never shows the password"),
    ("haStatus", "5.0", "-c also asks slaves; speeds are in bytes per second"),
    ("listAcl", "5.3.0", "names the broker; also asks slaves"),
    ("listUser", "5.3.0", "asks every broker and shows differences; never shows a password"),
    ("printMsg", "4.1", "stops after --limit messages and reports it; shows binary bodies as base64"),
    ("printMsgByQueue", "4.1", "shows the messages by default; --limit limits them"),
    ("producer", "4.9.4", "asks all brokers by default; --no-internal hides entries of every Java client"),
    ("producerConnection", "4.1", "asks every broker, not a random one; the topic is optional"),
    ("queryCq", "4.1", "asks every broker of the route; names the broker that answered"),
    ("queryMsgById", "4.1", "confirms before -g with -d and before -s, which sends it again; writes no file"),
    ("queryMsgByKey", "4.1", "shows the broker of each message, and the brokers that did not answer"),
    ("queryMsgByOffset", "4.1", "a missing message is an error"),
    ("queryMsgByUniqueKey", "4.1", "finds all messages of any age; confirms before -g with -d"),
    ("queryMsgTraceById", "4.8", "also shows transactions and the begin of consumption"),
    ("remappingStaticTopic", "5.0", "-mf resumes an interrupted run; mqadmin ignores it"),
    ("removeBroker", "5.0", "reports a wrong identity in one line"),
    ("removeColdDataFlowCtrGroupConfig", "5.1.2", "a group without a threshold is exit code 5"),
    ("resetMasterFlushOffset", "5.0", "a master, which ignores the request, is an error"),
    ("resetOffsetByTime", "4.1", "shows what each queue skips or repeats, -o 0 works; -c is a cluster"),
    ("rocksDBConfigToJson", "5.3.1", '-c is one cluster; a broker that writes nothing is not "done"'),
    ("sendMessage", "4.3", "sends the body unchanged, with --property; never creates the topic"),
    ("sendMsgStatus", "4.1", "confirms before it writes; a row for each message"),
    ("setCommitLogReadAheadMode", "5.1.2", "shows the previous mode"),
    ("setConsumeMode", "5.0", "an unknown group is an error; getConsumeMode reads the mode"),
    ("skipAccumulatedMessage", "4.9.4", "shows how many messages each queue skips, and confirms"),
    ("startMonitoring", "4.1", "prints its findings, joins no group; --once exits like a check"),
    ("statsAll", "4.1", "names a broker that did not answer, does not count it as 0"),
    ("switchTimerEngine", "5.5.0", "shows the settings before and after"),
    ("topicClusterList", "4.1", "shows all clusters of the topic, not only that of its first broker"),
    ("topicList", "4.1", "--no-system hides RocketMQ's own topics; reports errors of -c"),
    ("topicRoute", "4.1", "rows, or proper JSON with --json; --raw prints the name server's text"),
    ("topicStatus", "4.1", "the rate is not always 0; a dead broker does not hide the others"),
    ("triggerLiteDispatch", "5.5.0", "confirms; does not create a group with an invalid name"),
    ("updateAcl", "5.3.0", "shows the changes, resource by resource"),
    ("updateBrokerConfig", "4.1", "reads back, so an ignored key or value is a failure; -a true"),
    ("updateColdDataFlowCtrGroupConfig", "5.1.2", "reads back; a value that is not a number is an error"),
    ("updateControllerConfig", "5.0", "reads back, so an ignored key or value is a failure"),
    ("updateKvConfig", "4.1", "a row for each name server; kv get and kv list read it back"),
    ("updateNamesrvConfig", "4.1", "reads back, so an ignored key or value is a failure"),
    ("updateOrderConf", "4.1", "checks it; reports name servers that do not send it to clients"),
    ("updateStaticTopic", "5.0", "shows the plan and confirms, uses -mf FILE; reads mappings back"),
    ("updateSubGroup", "4.1", "changes only the settings that you pass; mqadmin resets the others"),
    ("updateSubGroupList", "5.3.1", "merges, does not send unchanged topics; apply takes a whole plan"),
    ("updateTopic", "4.1", "changes only the settings that you pass; mqadmin resets the others"),
    ("updateTopicList", "5.3.0", "an existing group does not stop the others; apply takes a plan"),
    ("updateTopicPerm", "4.1", "queue counts and order stay as on each broker"),
    ("updateUser", "5.3.0", "changes several settings at once; -p needs --passwordVisible"),
    ("wipeWritePerm", "4.1", 'an unknown broker is an error, not "OK, 0"'),
)  # fmt: skip

# Commands of 4.9 that 5.5.0 removed.
_REMOVED_COMMANDS = tuple(
    (command_name, "4.6 to 5.3.2", note)
    for command_name, note in (
        ("clusterAclConfigVersion", "ACL of 4.x; times in UTC, also slaves"),
        ("deleteAclConfig", "ACL of 4.x; an unknown account is an error"),
        ("getAclConfig", "ACL of 4.x; never shows a secret key"),
        ("updateAclConfig", "ACL of 4.x, other settings stay, also admin; -s needs --passwordVisible"),
        ("updateGlobalWhiteAddr", "ACL of 4.x; shows the previous list"),
    )
)

KNOWN_COMMANDS = tuple(
    MqadminCommand(command_name, since_release, note, *replacement_names)
    for command_name, since_release, note, *replacement_names in sorted(
        (*_COMMANDS, *_REMOVED_COMMANDS), key=lambda command_fields: command_fields[0].lower()
    )
)
