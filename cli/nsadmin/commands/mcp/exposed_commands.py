"""Owns the choice of the commands that MCP clients can use.

Each command is a tool, or has a reason here why it is not. No tool reads other local files than those of
--files, starts a program, asks for a secret, or connects to an address that the client chose.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nsadmin.registry import COMMANDS, CommandEntry

_READS_FILES = "it reads local files"
_WRITES_FILES = "it writes local files"
_LOCAL_STATE = "it changes files of this account"
_RUNS_ON = "it runs until it is stopped"
_TAKES_SECRET = "it needs a secret, which the client would see"
_OTHER_CONTEXTS = "it shows contexts that the operator did not name"
_FREE_ADDRESS = "it connects to an address on the command line"
_OTHER_CLUSTER = "it changes another cluster"
_LOAD = "it puts load on the cluster"

LEFT_OUT_COMMANDS: Mapping[str, str] = {
    "addBroker": _FREE_ADDRESS,
    "auditList": _OTHER_CONTEXTS,
    "backupCreate": _WRITES_FILES,
    "bundleCreate": _WRITES_FILES,
    "benchConsume": _LOAD,
    "benchLatency": _LOAD,
    "benchProduce": _LOAD,
    "checkMsgSendRT": _LOAD,
    "checkReports": _READS_FILES,
    "cleanBrokerMetadata": _FREE_ADDRESS,
    "clusterRT": _LOAD,
    "collect": _RUNS_ON,
    "contextDelete": _LOCAL_STATE,
    "contextList": _OTHER_CONTEXTS,
    "contextLogin": _TAKES_SECRET,
    "contextSet": _LOCAL_STATE,
    "contextShow": _OTHER_CONTEXTS,
    "contextUse": _LOCAL_STATE,
    "createUser": _TAKES_SECRET,
    "dumpCompactionLog": _READS_FILES,
    "electMaster": _FREE_ADDRESS,
    "exportMetadataInRocksDB": _READS_FILES,
    "exporter": _RUNS_ON,
    "getControllerConfig": _FREE_ADDRESS,
    "getControllerMetaData": _FREE_ADDRESS,
    "getSyncStateSet": _FREE_ADDRESS,
    "inventoryForget": _LOCAL_STATE,
    "inventoryPin": _LOCAL_STATE,
    "journalCat": _READS_FILES,
    "journalStat": _READS_FILES,
    "journalTail": _READS_FILES,
    "journalVerify": _READS_FILES,
    "kubeDoctor": "it runs kubectl of this machine",
    "kvImport": _READS_FILES,
    "kvSync": _FREE_ADDRESS,
    "messagesExport": _WRITES_FILES,
    "messagesImport": _READS_FILES,
    "produce": _READS_FILES,
    "rebalanceRun": _READS_FILES,
    "removeBroker": _FREE_ADDRESS,
    "reportExport": _WRITES_FILES,
    "reportHtml": _READS_FILES,
    "reportMarkdown": _READS_FILES,
    "reportSchema": "the tables of reports are local files",
    "reportShow": _READS_FILES,
    "rocksDBConfigToJson": _READS_FILES,
    "rollingRestart": "it runs commands of this machine",
    "routeDiff": "its sides can be files, addresses and other contexts",
    "sendMsgStatus": _LOAD,
    "snapshotList": _READS_FILES,
    "snapshotSave": _WRITES_FILES,
    "transferAcl": _OTHER_CLUSTER,
    "transferGroups": _OTHER_CLUSTER,
    "transferMessages": _OTHER_CLUSTER,
    "transferOffsets": _OTHER_CLUSTER,
    "transferTopics": _OTHER_CLUSTER,
    "transferVerify": _FREE_ADDRESS,
    "updateAclConfig": _TAKES_SECRET,
    "updateControllerConfig": _FREE_ADDRESS,
    "updateGlobalWhiteAddr": "it lets clients in without a signature",
    "updateSubGroupList": _READS_FILES,
    "updateTopicList": _READS_FILES,
}
"""Commands without a tool, and why. Programs, screens and batches have none, either."""

FIXED_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "plan": {"reports_differences": True},
    "startMonitoring": {"only_once": True},
    "updateOrderConf": {"method_name": "get"},
}
"""Values that reading tools always pass, by parameter."""

CHANGING_PARAMETERS: Mapping[str, frozenset[str]] = {
    "orphans": frozenset(("delete_orphans", "delete_dead_letters")),
    "queryMsgById": frozenset(("group", "client_id", "resend_text")),
    "queryMsgByUniqueKey": frozenset(("group", "client_id")),
    "updateOrderConf": frozenset(("method_name", "order_conf")),
}
"""The parameters with which a command of the kind "mixed" changes something. Reading tools lack them."""

CHANGING_MIXED_COMMANDS = frozenset(("orphans", "updateOrderConf"))
"""Commands of the kind "mixed" that have a tool for their changes, too."""


class ExposedCommand(NamedTuple):
    """A command with a tool. `is_change` is true for the tool that plans changes."""

    entry: CommandEntry
    function: Callable[..., Any]
    is_change: bool

    @property
    def tool_name(self) -> str:
        """The machine name of the command; with plan_ before it if the tool plans a change."""
        return f"plan_{self.entry.name}" if self.is_change else self.entry.name


def has_reading_tool(command_entry: CommandEntry) -> bool:
    """Whether a command has a tool that reads."""
    if command_entry.kind == "mixed":
        return command_entry.name in CHANGING_PARAMETERS
    return command_entry.kind in ("read", "check", "local") and command_entry.name not in LEFT_OUT_COMMANDS


def has_changing_tool(command_entry: CommandEntry) -> bool:
    """Whether a command has a tool that plans a change."""
    if command_entry.kind == "mixed":
        return command_entry.name in CHANGING_MIXED_COMMANDS
    return command_entry.kind in ("change", "delete") and command_entry.name not in LEFT_OUT_COMMANDS


def list_exposed_commands(*, with_changes: bool) -> list[ExposedCommand]:
    """Return the commands that have a tool, in the order of the registry."""
    exposed_commands = []
    for command_entry in COMMANDS:
        command_tools = [False] if has_reading_tool(command_entry) else []
        command_tools += [True] if with_changes and has_changing_tool(command_entry) else []
        if command_tools:
            command_function = command_entry.load_function()
            exposed_commands += [
                ExposedCommand(command_entry, command_function, is_change) for is_change in command_tools
            ]
    return exposed_commands
