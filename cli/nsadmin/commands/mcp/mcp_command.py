"""Owns mcp, which serves the commands as tools to an MCP client on stdin and stdout."""

from collections.abc import Iterator
from typing import Annotated, Any

from typer import Option

from nsadmin.client.extras import describe_missing
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.declarations import command
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session

_MIN_SECONDS, _MAX_SECONDS = 1.0, 3600.0


@command(examples=("elsewhere", "it serves a client on standard input"))
def mcp(
    session: Session,
    contexts_text: Annotated[
        str | None,
        Option(
            "--contexts",
            metavar="NAME,...",
            help="Contexts that the client can choose from, separated by commas. Default: the name servers "
            "of the command line.",
        ),
    ] = None,
    tools_text: Annotated[
        str | None,
        Option(
            "--tools",
            metavar="NAME,...",
            help="Only these tools: commands such as topicRoute, and categories of `nsadmin help` such as "
            "topics. Default: all.",
        ),
    ] = None,
    files_folder: Annotated[
        str | None,
        Option(
            "--files",
            metavar="DIR",
            help="Folder with backups, bundles and snapshots that the client may read.",
        ),
    ] = None,
    allow_changes: Annotated[
        bool,
        Option("--allow-changes", help="Also serve tools that plan changes, and a tool that executes plans."),
    ] = False,
    time_limit_text: Annotated[
        str, Option("--time-limit", metavar="DURATION", help="Time limit of a call that reads. Default: 2m.")
    ] = "2m",
    max_calls: Annotated[
        int, Option("--max-calls", metavar="N", help="Commands that run at once. Default: 4.", min=1)
    ] = 4,
) -> Iterator[Any]:
    """Serve nsadmin's commands as tools to a client of the Model Context Protocol (MCP).

    The client starts this command and talks to it on stdin and stdout. Each command that reads is a tool with
    the same name, and its result equals --output json. Commands that read local files, run programs or need a
    secret are left out. The client also gets the pages of the documentation, and prompts for the runbooks.

    Without --allow-changes, nsadmin refuses to send a changing request. With it, a tool plan_COMMAND shows
    what the change would do and returns a token. The tool execute_plan needs this token and the command line.
    It makes the dry run again, and refuses if its result has changed. A token works once, for 10 minutes. A
    read-only context refuses changes, and the audit names the client.

    Needs the extra nsadmin[mcp].

    Examples:
        # Serve the current context, reading only
        nsadmin mcp
        # Two contexts, with the tools for topics and groups
        nsadmin mcp --contexts prod,test --tools topics,consumers
        # Also plan and execute changes of the test cluster
        nsadmin mcp --context test --allow-changes
    """
    time_limit_seconds = parse_duration_seconds("--time-limit", time_limit_text, _MIN_SECONDS, _MAX_SECONDS)
    _require_sdk()
    from nsadmin.commands.mcp import mcp_server
    from nsadmin.commands.mcp.served_content import build_content
    from nsadmin.commands.mcp.tool_calls import CallLimits

    content = build_content(
        session,
        contexts_text=contexts_text,
        tools_text=tools_text,
        files_folder=files_folder,
        allows_changes=allow_changes,
        limits=CallLimits(time_limit_seconds, max_calls),
    )
    session.write_remark(
        f"serving {count_noun(len(content.tools), 'tool')} on stdin and stdout until stdin is closed"
    )
    mcp_server.serve_stdio(content)
    yield from ()


def _require_sdk() -> None:
    try:
        import mcp.server.lowlevel  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(describe_missing(error.name or "mcp", "mcp")) from None
