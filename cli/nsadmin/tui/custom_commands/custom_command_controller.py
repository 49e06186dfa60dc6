"""The controller of the operator's own keys and plugins: which key does what, and how its command runs."""

from collections.abc import Sequence

from nsadmin.console import python_process
from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.planned_commands import PlannedCommand
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.custom_commands.command_file import Plugin
from nsadmin.tui.custom_commands.placeholders import MissingValueError, collect_values, fill_words

_RUN_CHOICE = "run"


class CustomCommandController:
    def __init__(self, app: BaseTui) -> None:
        self._app = app

    def bind_keys(self) -> None:
        app, commands = self._app, self._app.custom_commands
        for key in dict.fromkeys((*commands.hotkeys, *(plugin.key for plugin in commands.plugins))):
            app.bind(key, f"do('custom_command_controller.run_key', {key!r})", show=False)
        for line in commands.error_lines:
            app.add_log_line(line)
        if commands.error_lines:
            app.show_message(f"{commands.error_lines[0]} (L shows all)", "warn")

    @property
    def current_scope(self) -> str:
        return self._app.current_view.scope or self._app.current_view.name

    def run_key(self, key: str) -> None:
        custom_commands = self._app.custom_commands
        if key in custom_commands.hotkeys:
            self._app.action_controller.run_prompt_line(custom_commands.hotkeys[key])
            return
        key_plugins = [plugin for plugin in custom_commands.plugins if plugin.key == key]
        for plugin in key_plugins:
            if plugin.works_in(self.current_scope):
                self.run_plugin(plugin)
                return
        scopes_text = ", ".join(scope for plugin in key_plugins for scope in plugin.scopes)
        self._app.show_message(f"this key works only in {scopes_text}", "warn")

    def run_plugin_by_name(self, plugin_name: str | None) -> None:
        plugins = {plugin.name: plugin for plugin in self._app.custom_commands.plugins}
        if plugin_name in plugins:
            self.run_plugin(plugins[plugin_name])
            return
        known_text = f"choose from {', '.join(plugins)}" if plugins else "tui-commands.yaml has none"
        self._app.show_message(f'unknown plugin "{plugin_name or ""}": {known_text}', "bad")

    def run_plugin(self, plugin: Plugin) -> None:
        """Run a plugin for the row at the cursor, or for each marked row."""
        app = self._app
        if app.cluster_context.read_only and not plugin.is_read_only:
            text = f"plugin {plugin.name} is not marked readOnly, and this context is read-only"
            app.show_message(text, "bad")
            return
        try:
            lines = self._fill_command(plugin)
        except MissingValueError as error:
            app.show_message(f"plugin {plugin.name}: {error}", "warn")
            return
        if plugin.command_words[0] == "nsadmin" and self._handle_nsadmin(plugin, lines):
            return
        if not plugin.needs_confirmation:
            self._start_commands(plugin, lines)
            return
        count_text = "Run" if len(lines) == 1 else f"Run {len(lines)} commands, first"
        choices = [("cancel", "Cancel"), (_RUN_CHOICE, f"{count_text}: {' '.join(lines[0])}")]
        app.choose(
            f"Plugin {plugin.name}",
            choices,
            lambda choice: self._start_commands(plugin, lines) if choice == _RUN_CHOICE else None,
        )

    def _fill_command(self, plugin: Plugin) -> list[list[str]]:
        """The command line for each row. Rows with equal command lines share one."""
        context = self._app.cluster_context
        filled = []
        for subject in self._app.row_actions.list_subjects():
            values = collect_values(subject, context.label, context.addrs)
            filled.append(tuple(fill_words(plugin.command_words, values)))
        return [list(line) for line in dict.fromkeys(filled)]

    def _handle_nsadmin(self, plugin: Plugin, lines: Sequence[Sequence[str]]) -> bool:
        """Refuse a wrong command of nsadmin, and preview one that changes something. False: it only reads."""
        app, words = self._app, lines[0][1:]
        refusal = row_actions.explain_refusal(words, app.cluster_context.read_only)
        if refusal is not None:
            app.show_message(f"plugin {plugin.name}: {refusal}", "bad")
            return True
        if not row_actions.needs_confirmation(words):
            return False
        if len(lines) == 1:
            self._app.action_controller.run_command(words)
            return True
        find_target = app.cluster_context.find_target
        planned = [PlannedCommand(find_target(line[1:]) or " ".join(line[1:]), line[1:]) for line in lines]
        title = f"plugin {plugin.name}: {count_noun(len(planned), 'command')}"
        self._app.row_actions.open_batch_screen(title, planned, f"{plugin.name} {len(planned)}")
        return True

    def _start_commands(self, plugin: Plugin, lines: Sequence[Sequence[str]]) -> None:
        arguments_list = [self._build_arguments(line) for line in lines]
        if plugin.runs_in_background:
            for number, arguments in enumerate(arguments_list, 1):
                count_text = f" {number} of {len(arguments_list)}" if len(arguments_list) > 1 else ""
                self._app.action_controller.start_background(f"plugin {plugin.name}{count_text}", arguments)
            return
        from nsadmin.tui.screens.command_output import PluginScreen

        self._app.push_screen(PluginScreen(plugin.name, lines, arguments_list))

    def _build_arguments(self, line: Sequence[str]) -> list[str]:
        """The arguments of the process. A command of nsadmin uses this interpreter and this context."""
        if line[0] != "nsadmin":
            return list(line)
        entry = row_actions.find_entry(line[1:])
        is_local = entry is not None and entry.kind == "local"
        context_words = () if is_local else self._app.cluster_context.words
        return python_process.build_command("nsadmin", *context_words, *line[1:])
