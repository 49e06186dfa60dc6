"""Owns the choice of the commands that MCP clients can use.

Each command is a tool, or declares why it is not. No tool reads other local files than those of
--files, starts a program, asks for a secret, or connects to an address that the client chose.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nsadmin.command_line.declarations import declaration_of
from nsadmin.command_line.registry import COMMANDS, CommandEntry

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


def agent_refusal(entry: CommandEntry) -> str | None:
    """Why MCP clients cannot use the command, as it declares; None if they can."""
    return declaration_of(entry.load_function()).agent_refusal


def has_reading_tool(entry: CommandEntry) -> bool:
    """Whether a command has a tool that reads."""
    if entry.kind == "mixed":
        return entry.name in CHANGING_PARAMETERS
    return entry.kind in ("read", "check", "local") and not agent_refusal(entry)


def has_changing_tool(entry: CommandEntry) -> bool:
    """Whether a command has a tool that plans a change."""
    if entry.kind == "mixed":
        return entry.name in CHANGING_MIXED_COMMANDS
    return entry.kind in ("change", "delete") and not agent_refusal(entry)


def list_exposed_commands(*, with_changes: bool) -> list[ExposedCommand]:
    """Return the commands that have a tool, in the order of the registry."""
    return [
        ExposedCommand(entry, entry.load_function(), is_change)
        for entry in COMMANDS
        for is_change, has_tool in (
            (False, has_reading_tool(entry)),
            (True, with_changes and has_changing_tool(entry)),
        )
        if has_tool
    ]
