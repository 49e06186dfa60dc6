"""The controller of the operator's own keys and plugins: which key does what, and how its command runs."""

from collections.abc import Sequence

from nsadmin.console import python_process
from nsadmin.tui.action_controller import ActionController
from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.planned_commands import PlannedCommand
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.custom_commands.command_file import Plugin
from nsadmin.tui.custom_commands.placeholders import MissingValueError, collect_values, fill_words

_SCOPE_BY_TABS = {"broker": "brokers", "topic": "topics", "group": "groups", "servers": "servers"}
_RUN_CHOICE = "run"


class CustomCommandController:
    """Controls the own commands of one app."""

    def __init__(self, app: BaseTui, action_controller: ActionController) -> None:
        self._app = app
        self._action_controller = action_controller

    def bind_keys(self) -> None:
        """Bind the keys, and report the mistakes of the file."""
        app = self._app
        custom_commands = app.custom_commands
        for key in dict.fromkeys((*custom_commands.hotkeys, *(p.key for p in custom_commands.plugins))):
            app.bind(key, f"run_custom({key!r})", show=False)
        for error_line in custom_commands.error_lines:
            app.add_log_line(error_line)
        if custom_commands.error_lines:
            app.show_message(f"{custom_commands.error_lines[0]} (L shows all)", "warn")

    @property
    def current_scope(self) -> str:
        view = self._app.current_view
        return _SCOPE_BY_TABS.get(view.tab_set or "", view.view_name)

    def run_key(self, key: str) -> None:
        custom_commands = self._app.custom_commands
        if key in custom_commands.hotkeys:
            self._action_controller.run_prompt_line(custom_commands.hotkeys[key])
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
            app.show_message(
                f"plugin {plugin.name} is not marked readOnly, and this context is read-only", "bad"
            )
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
        from nsadmin.tui.screens.dialogs import ChooseScreen

        choices = [("cancel", "Cancel"), (_RUN_CHOICE, f"Run: {' '.join(lines[0])}")]
        if len(lines) > 1:
            choices[1] = (
                _RUN_CHOICE,
                f"Run {len(lines)} commands, first: {' '.join(lines[0])}",
            )
        app.push_screen(
            ChooseScreen(f"Plugin {plugin.name}", choices),
            lambda choice_id: self._start_commands(plugin, lines) if choice_id == _RUN_CHOICE else None,
        )

    def _fill_command(self, plugin: Plugin) -> list[list[str]]:
        """The command line for each row. Rows with equal command lines share one."""
        app = self._app
        filled_lines = [
            tuple(
                fill_words(
                    plugin.command_words,
                    collect_values(subject, app.cluster_context.label, app.cluster_context.addrs),
                )
            )
            for subject in self._action_controller.row_actions.list_subjects()
        ]
        return [list(filled_line) for filled_line in dict.fromkeys(filled_lines)]

    def _handle_nsadmin(self, plugin: Plugin, command_lines: Sequence[Sequence[str]]) -> bool:
        """Refuse a wrong command of nsadmin, and preview one that changes something. False: it only reads."""
        app, command_words = self._app, command_lines[0][1:]
        refusal_text = row_actions.explain_refusal(command_words, app.cluster_context.read_only)
        if refusal_text is not None:
            app.show_message(f"plugin {plugin.name}: {refusal_text}", "bad")
            return True
        if not row_actions.needs_confirmation(command_words):
            return False
        if len(command_lines) == 1:
            self._action_controller.run_command(command_words)
            return True
        find_target = app.cluster_context.find_target
        planned_commands = [
            PlannedCommand(find_target(line[1:]) or " ".join(line[1:]), line[1:]) for line in command_lines
        ]
        self._action_controller.row_actions.open_batch_screen(
            f"plugin {plugin.name}: {len(planned_commands)} commands",
            planned_commands,
            f"{plugin.name} {len(planned_commands)}",
        )
        return True

    def _start_commands(self, plugin: Plugin, command_lines: Sequence[Sequence[str]]) -> None:
        arguments_list = [self._build_arguments(command_line) for command_line in command_lines]
        if plugin.runs_in_background:
            for number, arguments in enumerate(arguments_list, 1):
                count_text = f" {number} of {len(arguments_list)}" if len(arguments_list) > 1 else ""
                self._action_controller.start_background(f"plugin {plugin.name}{count_text}", arguments)
            return
        from nsadmin.tui.screens.plugin_output import PluginScreen

        self._app.push_screen(PluginScreen(plugin.name, command_lines, arguments_list))

    def _build_arguments(self, command_line: Sequence[str]) -> list[str]:
        """The arguments of the process. A command of nsadmin uses this interpreter and this context."""
        if command_line[0] != "nsadmin":
            return list(command_line)
        entry = row_actions.find_entry(command_line[1:])
        is_local = entry is not None and entry.kind == "local"
        context_words = () if is_local else self._app.cluster_context.words
        return python_process.build_command("nsadmin", *context_words, *command_line[1:])
