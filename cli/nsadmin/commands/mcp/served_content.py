"""Gathers what the server offers: clusters, tools, pages and files."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.command_line import registry
from nsadmin.commands.mcp.exposed_commands import ExposedCommand, agent_refusal, list_exposed_commands
from nsadmin.commands.mcp.served_clusters import list_served_clusters
from nsadmin.commands.mcp.served_files import ServedFolder
from nsadmin.commands.mcp.tool_calls import CallLimits, ToolCaller
from nsadmin.commands.mcp.tool_schemas import CommandTool, build_tools
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.guides import Guide, find_guides
from nsadmin.console.session import Session


class ServedContent(NamedTuple):
    """The offer: tools by name, pages by path in docs/, and the folder of --files; None without it."""

    tools: Mapping[str, CommandTool]
    caller: ToolCaller
    pages: Mapping[str, Guide]
    folder: ServedFolder | None
    allows_changes: bool


def build_content(
    session: Session,
    *,
    contexts_text: str | None,
    tools_text: str | None,
    files_folder: str | None,
    allows_changes: bool,
    limits: CallLimits,
) -> ServedContent:
    """Build the content from the options of the command; UsageError if an option is invalid."""
    clusters = list_served_clusters(session, contexts_text)
    folder = None if files_folder is None else ServedFolder(files_folder)
    exposed_commands = list_exposed_commands(with_changes=allows_changes)
    if tools_text is not None:
        exposed_commands = _select_commands(exposed_commands, tools_text)
    pages = {guide.path_name: guide for guide in find_guides().values()}
    tools = build_tools(
        exposed_commands, tuple(clusters) if len(clusters) > 1 else (), has_folder=folder is not None
    )
    return ServedContent(tools, ToolCaller(tools, clusters, folder, limits), pages, folder, allows_changes)


def _select_commands(commands: Sequence[ExposedCommand], tools_text: str) -> list[ExposedCommand]:
    """Return the commands of a list of command names and categories."""
    selected: set[str] = set()
    for word in filter(None, (word.strip() for word in tools_text.split(","))):
        category, entry = registry.find_category(word), registry.find_command(word.replace(" ", ""))
        names = {c.entry.name for c in commands if c.entry.category == category or c.entry == entry}
        if not names:
            raise _unknown_tool(word, commands)
        selected |= names
    if not selected:
        raise UsageError('no tool in --tools: write names, such as "topics,clusterList"')
    return [c for c in commands if c.entry.name in selected]


def _unknown_tool(word: str, commands: Sequence[ExposedCommand]) -> UsageError:
    entry = registry.find_command(word)
    if entry is not None:
        reason = agent_refusal(entry)
        explanation = "needs --allow-changes" if reason is None else f"is left out, because {reason}"
        return UsageError(f'no tool "{word}" for --tools: nsadmin {entry.typed_name} {explanation}')
    known_names = [*(c.handle for c in registry.CATEGORIES), *(c.entry.name for c in commands)]
    similar_names = find_similar_names(word, known_names, 0.6)
    advice = did_you_mean(similar_names) if similar_names else "write names of commands, such as topicRoute"
    return UsageError(f'no tool "{word}" for --tools: {advice}')
