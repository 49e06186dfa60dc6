"""Runs the calls of tools: reads, dry runs of changes, and the execution of planned changes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from namesrv_core.errors import RocketMQError
from nsadmin.client.connection.tunnels.tunnel_server import share_tunnels
from nsadmin.commands.mcp.change_plans import (
    TOKEN_SECONDS,
    ChangePlan,
    PlanStore,
    hash_dry_run,
    require_same_state,
)
from nsadmin.commands.mcp.command_process import CommandOutcome, run_command_line
from nsadmin.commands.mcp.served_clusters import (
    ClusterMembers,
    ServedCluster,
    address_of_message_id,
    fetch_members,
    find_foreign_address,
)
from nsadmin.commands.mcp.served_files import ServedFolder
from nsadmin.commands.mcp.tool_results import DEFAULT_ROWS, build_result
from nsadmin.commands.mcp.tool_schemas import CommandTool, describe_exit_code
from nsadmin.commands.mcp.tool_words import (
    InvalidArgumentsError,
    build_command_words,
    describe_command,
    validate_arguments,
)
from nsadmin.console.audit import ORIGIN_VARIABLE
from nsadmin.console.exit_codes import ExitCode

CHANGE_SECONDS = 3600.0
"""Time limit of an executed change: a drain waits for clients."""


class CallLimits(NamedTuple):
    """Seconds that a read may take, and the number of commands that run at once."""

    read_seconds: float
    max_calls: int


class ToolResult(NamedTuple):
    """The structured result of a call, and whether the call failed without a result."""

    structured: dict[str, Any]
    is_error: bool


class ToolCaller:
    """Runs calls of the tools (by name) on the clusters (by context; the first is the default).

    `folder` is that of --files; None without that option.
    """

    def __init__(
        self,
        tools: Mapping[str, CommandTool],
        clusters: Mapping[str, ServedCluster],
        folder: ServedFolder | None,
        limits: CallLimits,
    ) -> None:
        self._tools = tools
        self._clusters = clusters
        self._folder = folder
        self._limits = limits
        self._plans = PlanStore()
        self._slots = anyio.CapacityLimiter(limits.max_calls)
        self._change_lock = anyio.Lock()
        self._ends_by_scope = dict[anyio.CancelScope, anyio.Event]()

    async def call_tool(self, tool: CommandTool, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a reading tool, or the dry run of a change.

        Raises InvalidArgumentsError if the arguments are wrong, or name an address outside the cluster.
        """
        validate_arguments(tool.name, tool.input_schema, arguments)
        cluster = self._clusters[arguments.get("context", next(iter(self._clusters)))]
        await self._require_own_addresses(tool, arguments, cluster)
        max_rows = arguments.get("maxRows", DEFAULT_ROWS)
        if not tool.exposed.is_change:
            # A command that can also change something runs as a dry run, which sends no changing request.
            safety_words = ["--dry-run"] if tool.exposed.entry.kind == "mixed" else []
            outcome = await self._run(tool, arguments, cluster, safety_words)
            return self._to_result(tool, outcome, max_rows)
        return await self._plan_change(tool, arguments, cluster, max_rows)

    async def execute_plan(self, token: str, command_text: str, origin: str) -> ToolResult:
        """Execute a planned change if a new dry run has the same result.

        Raises:
            PlanRefusedError: The token is not valid, or the cluster has changed since the plan.
        """
        plan = self._plans.take_plan(token, command_text)
        tool, cluster = self._tools[plan.tool_name], self._clusters[plan.context_key]
        async with self._change_lock:
            members = await self._fetch_members(cluster)
            dry_run = await self._run(tool, plan.arguments, cluster, ["--dry-run"])
            require_same_state(plan, hash_dry_run(dry_run), members.fingerprint)
            outcome = await self._run(tool, plan.arguments, cluster, ["--yes"], origin)
        return self._to_result(tool, outcome, plan.arguments.get("maxRows", DEFAULT_ROWS))

    async def stop_calls(self) -> None:
        """Cancel all calls, and wait until their processes have ended."""
        calls = dict(self._ends_by_scope)
        for scope in calls:
            scope.cancel()
        for end in calls.values():
            await end.wait()

    async def _plan_change(
        self, tool: CommandTool, arguments: Mapping[str, Any], cluster: ServedCluster, max_rows: int
    ) -> ToolResult:
        # First, so that a cluster that moves meanwhile is noticed.
        members = await self._fetch_members(cluster)
        dry_run = await self._run(tool, arguments, cluster, ["--dry-run"])
        result = self._to_result(tool, dry_run, max_rows)
        command_text = describe_command(tool, arguments)
        if cluster.is_read_only:
            refusal = f"the context {cluster.context_name} is read-only"
        elif dry_run.exit_code != ExitCode.DONE:
            refusal = "the dry run did not succeed"
        else:
            token = self._plans.add_plan(
                ChangePlan(
                    tool.name,
                    arguments,
                    cluster.context_name or "",
                    command_text,
                    hash_dry_run(dry_run),
                    members.fingerprint,
                )
            )
            token_fields = {"token": token, "command": command_text, "expiresInSeconds": TOKEN_SECONDS}
            return result._replace(structured={**result.structured, **token_fields})
        return result._replace(structured={**result.structured, "command": command_text, "refusal": refusal})

    async def _fetch_members(self, cluster: ServedCluster) -> ClusterMembers:
        try:
            return await anyio.to_thread.run_sync(fetch_members, cluster, abandon_on_cancel=True)
        except RocketMQError as error:
            raise InvalidArgumentsError(f"cannot read the brokers of the cluster: {error}") from None

    async def _require_own_addresses(
        self, tool: CommandTool, arguments: Mapping[str, Any], cluster: ServedCluster
    ) -> None:
        """Raise InvalidArgumentsError for an address that is no broker of the cluster."""
        broker_texts = [text.strip() for text in _values_of_kind(tool, arguments, "broker")]
        id_addrs = [
            addr
            for text in _values_of_kind(tool, arguments, "message-id")
            for message_id in text.split(",")
            if (addr := address_of_message_id(message_id)) is not None
        ]
        if broker_texts or id_addrs:
            members = await self._fetch_members(cluster)
            for text in (*broker_texts, *id_addrs):
                if find_foreign_address(text, members) is not None:
                    raise InvalidArgumentsError(
                        f'"{text}" is not a broker of this cluster: use a name or an address of clusterList'
                    )

    async def _run(
        self,
        tool: CommandTool,
        arguments: Mapping[str, Any],
        cluster: ServedCluster,
        safety_words: Sequence[str],
        origin: str | None = None,
    ) -> CommandOutcome:
        is_execution = origin is not None
        origin_variables = {} if origin is None else {ORIGIN_VARIABLE: origin}
        option_words = () if tool.exposed.entry.kind == "local" else cluster.option_words
        outcome = CommandOutcome("", "the server stops", ExitCode.INTERRUPTED)
        with build_command_words(tool, arguments, self._folder) as command, self._open_call_scope():
            async with self._slots:
                outcome = await run_command_line(
                    [*option_words, *command.words, *safety_words],
                    CHANGE_SECONDS if is_execution else self._limits.read_seconds,
                    more_variables={**cluster.variables, **origin_variables, **share_tunnels()},
                    may_change=is_execution,
                )
        return outcome._replace(
            stdout_text=command.hide_paths(outcome.stdout_text),
            stderr_text=command.hide_paths(outcome.stderr_text),
        )

    @contextmanager
    def _open_call_scope(self) -> Iterator[None]:
        with anyio.CancelScope() as scope:
            self._ends_by_scope[scope] = anyio.Event()
            try:
                yield
            finally:
                self._ends_by_scope.pop(scope).set()

    def _to_result(self, tool: CommandTool, outcome: CommandOutcome, max_rows: int) -> ToolResult:
        entry = tool.exposed.entry
        structured_result = build_result(
            outcome.stdout_text,
            outcome.stderr_text,
            outcome.exit_code,
            describe_exit_code(entry.name, entry.kind, outcome.exit_code),
            max_rows,
        )
        is_error = bool(outcome.exit_code) and not outcome.stdout_text.strip()
        return ToolResult(structured_result, is_error)


def _values_of_kind(tool: CommandTool, arguments: Mapping[str, Any], kind: str) -> list[str]:
    names = [p.property_name for p in tool.parameters if p.kind == kind and p.property_name in arguments]
    values = [arguments[name] for name in names]
    return [text for value in values for text in (value if isinstance(value, list) else [value])]
