"""Owns the meanings of the columns of the commands about users, ACLs and controllers."""

_USER_MEANINGS = {
    "username": "name of the user",
    "userType": "Super, who may do everything, or Normal, who may do what ACLs allow",
    "userStatus": "enable, or disable: then nobody may sign as this user",
}
_ACL_MEANINGS = {
    "subject": "who it is about, User:NAME",
    "policyType": "Custom, or Default for what holds where nothing else is said",
    "resource": "topic, group, cluster or namespace: TYPE:NAME, TYPE:PREFIX*, TYPE:*, or * for everything",
    "actions": "what is allowed or denied",
    "sourceIps": "addresses and networks that it holds for; none for all",
    "decision": "Allow or Deny",
}

_ACCESS_KEY_MEANING = {"accessKey": "access key of the account"}
_ACCOUNT_MEANINGS = {
    **_ACCESS_KEY_MEANING,
    "admin": "whether it may do everything",
    "whiteRemoteAddress": "from where requests of the account need not be signed; null for nowhere",
    "defaultTopicPerm": "what it may do to topics that are not named; null for DENY",
    "defaultGroupPerm": "what it may do to groups that are not named; null for DENY",
    "topicPerms": "what it may do to topics, as in orders=PUB|SUB; null for none",
    "groupPerms": "what it may do to groups, as in shop=SUB; null for none",
    "globalWhiteAddrs": "from where everybody may do everything",
}
_ACL_FILE_MEANINGS = {
    "aclFile": "path of the file on the broker; null where the broker does not tell",
    "counter": "how often it was changed since the broker started",
    "lastUpdated": "when it was changed or read last (UTC)",
}
_REPLICA_MEANINGS = {
    "brokerId": "id that the controllers gave it",
    "isMaster": "whether it is the master",
    "inSync": "whether it has all that the master has",
    "alive": "whether its heartbeats reach the controllers",
    "masterEpoch": "how many masters there were, this one included",
    "syncStateSetEpoch": "how often the replicas in sync changed",
}
_CONTROLLER_MEANINGS = {
    "controllerAddr": "address of the controller, HOST:PORT",
    "group": "name of the controllers' group",
    "isLeader": "whether it says that it leads",
    "leaderId": "who leads, as it says; null for nobody",
    "leaderAddr": "address of that one, HOST:PORT",
    "peers": "all controllers by id, as it says",
}
_CONTROLLER_ADDR_MEANING = {"controllerAddr": _CONTROLLER_MEANINGS["controllerAddr"]}
_EPOCH_MEANINGS = {
    "brokerId": "0 for a master; a slave's id is the one that the controllers gave it",
    "epoch": "number of the master, from 1",
    "startOffset": "where its messages begin in the commit log, in bytes",
    "endOffset": "where they end; null for the one of now",
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
