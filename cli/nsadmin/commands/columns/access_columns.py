"""Owns the meanings of the columns of the commands about users, ACLs and controllers."""

_USER_MEANINGS = {
    "username": "name of the user",
    "userType": "Super (all permissions) or Normal (permissions from ACLs)",
    "userStatus": "enable, or disable: the user cannot sign requests",
}
_ACL_MEANINGS = {
    "subject": "the user, as User:NAME",
    "policyType": "Custom, or Default: applies if no other entry does",
    "resource": "topic, group, cluster or namespace: TYPE:NAME, TYPE:PREFIX*, TYPE:*, or * for all resources",
    "actions": "the actions that are allowed or denied",
    "sourceIps": "client addresses and networks that the entry applies to; empty for all",
    "decision": "Allow or Deny",
}

_ACCESS_KEY_MEANING = {"accessKey": "access key of the account"}
_ACCOUNT_MEANINGS = {
    **_ACCESS_KEY_MEANING,
    "admin": "whether the account has all permissions",
    "whiteRemoteAddress": "addresses from which the account's requests need no signature; null for none",
    "defaultTopicPerm": "permission for topics that are not listed; null for DENY",
    "defaultGroupPerm": "permission for groups that are not listed; null for DENY",
    "topicPerms": "permissions by topic, as in orders=PUB|SUB; null for none",
    "groupPerms": "permissions by group, as in shop=SUB; null for none",
    "globalWhiteAddrs": "addresses from which every client has all permissions",
}
_ACL_FILE_MEANINGS = {
    "aclFile": "path of the file on the broker; null if the broker does not report it",
    "counter": "how often the file changed since the broker started",
    "lastUpdated": "when the broker last changed or read the file (UTC)",
}
_REPLICA_MEANINGS = {
    "brokerId": "id that the controllers assigned",
    "isMaster": "whether it is the master",
    "inSync": "whether it has all messages of the master",
    "alive": "whether the controllers receive its heartbeats",
    "masterEpoch": "number of masters so far, including this one",
    "syncStateSetEpoch": "how often the set of replicas in sync changed",
}
_CONTROLLER_MEANINGS = {
    "controllerAddr": "address of the controller, HOST:PORT",
    "group": "name of the controllers' group",
    "isLeader": "whether this controller reports that it leads",
    "leaderId": "the leader that this controller reports; null for none",
    "leaderAddr": "address of the leader, HOST:PORT",
    "peers": "all controllers by id, as this controller reports them",
}
_CONTROLLER_ADDR_MEANING = {"controllerAddr": _CONTROLLER_MEANINGS["controllerAddr"]}
_EPOCH_MEANINGS = {
    "brokerId": "0 for a master; for a slave, the id that the controllers assigned",
    "epoch": "number of the master, from 1",
    "startOffset": "start of its messages in the commit log, in bytes",
    "endOffset": "end of its messages in the commit log, in bytes; null for the current epoch",
    "maxOffset": "end of the commit log, in bytes",
}
_USERNAME_MEANING = {"username": _USER_MEANINGS["username"]}
_SUBJECT_MEANING = {"subject": _ACL_MEANINGS["subject"]}

ACCESS_MEANINGS = {
    **dict.fromkeys(("listUser", "getUser"), _USER_MEANINGS),
    **dict.fromkeys(("createUser", "updateUser", "copyUser", "deleteUser"), _USERNAME_MEANING),
    **dict.fromkeys(("listAcl", "getAcl"), _ACL_MEANINGS),
    **dict.fromkeys(("createAcl", "updateAcl", "copyAcl", "deleteAcl"), _SUBJECT_MEANING),
    "getAclConfig": _ACCOUNT_MEANINGS,
    "clusterAclConfigVersion": _ACL_FILE_MEANINGS,
    **dict.fromkeys(("updateAclConfig", "deleteAclConfig"), _ACCESS_KEY_MEANING),
    "getControllerMetaData": _CONTROLLER_MEANINGS,
    "getSyncStateSet": _REPLICA_MEANINGS,
    "getBrokerEpoch": _EPOCH_MEANINGS,
    "getControllerConfig": _CONTROLLER_ADDR_MEANING,
    "updateControllerConfig": _CONTROLLER_ADDR_MEANING,
}
"""Column meanings by command."""
