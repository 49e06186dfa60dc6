"""The entries of the command palette: screens, objects of the cluster, contexts, and commands. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nsadmin.command_line import registry
from nsadmin.tui.actions.row_actions import TERMINAL_KINDS
from nsadmin.tui.custom_commands.command_file import Plugin
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views.base_view import View, open_broker, open_group, open_topic


class PaletteEntry(NamedTuple):
    """An entry, which opens `view`, or runs `prompt_line` as if it was typed after the colon.

    If `awaits_arguments` is set, the line opens in the prompt and the operator completes it.
    """

    name: str
    help_text: str
    prompt_line: str = ""
    view: View | None = None
    awaits_arguments: bool = False


def list_screen_entries(titles: Mapping[str, str]) -> Iterator[PaletteEntry]:
    """The screens, with their titles by their names for `:`."""
    for name, title in titles.items():
        yield PaletteEntry(title, "screen", name)


def list_context_entries(contexts: Iterable[str]) -> Iterator[PaletteEntry]:
    for name in contexts:
        yield PaletteEntry(f"context {name}", "another cluster", f"context {name}")


def list_theme_entries(themes: Iterable[str]) -> Iterator[PaletteEntry]:
    for name in themes:
        yield PaletteEntry(f"theme {name}", "colours", f"theme {name}")


def list_alias_entries(aliases: Mapping[str, str]) -> Iterator[PaletteEntry]:
    for alias, line in aliases.items():
        yield PaletteEntry(alias, f"alias of {line}", alias)


def list_view_entries(view_names: Iterable[str]) -> Iterator[PaletteEntry]:
    for name in view_names:
        yield PaletteEntry(f"view {name}", "saved view", f"view {name}")


def list_plugin_entries(plugins: Iterable[Plugin]) -> Iterator[PaletteEntry]:
    for plugin in plugins:
        text = plugin.description or " ".join(plugin.command_words)
        yield PaletteEntry(f"plugin {plugin.name}", text, f"plugin {plugin.name}")


def list_cluster_entries(model: ClusterModel) -> Iterator[PaletteEntry]:
    """The brokers, topics and consumer groups that the model knows."""
    for broker in model.brokers.values():
        role_text = "" if broker.key.id == 0 else f" {broker.key.id}"
        yield PaletteEntry(
            f"{broker.key.name}{role_text}", f"broker {broker.key.addr}", view=open_broker(broker)
        )
    for topic in model.list_topic_names():
        yield PaletteEntry(topic, "topic", view=open_topic(topic))
    names_poll = model.group_names_answer.last_poll
    for group in sorted({*model.group_answers, *(names_poll.names if names_poll is not None else ())}):
        yield PaletteEntry(group, "consumer group", view=open_group(group))


def list_command_entries() -> Iterator[PaletteEntry]:
    """The commands of nsadmin that need no terminal of their own."""
    for entry in registry.COMMANDS:
        if entry.kind not in TERMINAL_KINDS:
            name = entry.typed_name
            yield PaletteEntry(name, f"command: {entry.help}", f"{name} ", awaits_arguments=True)
