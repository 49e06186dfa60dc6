"""The controller of the actions on rows: on the row at the cursor, or on all marked rows at once."""

from collections.abc import Callable, Sequence

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.planned_commands import PlannedCommand, plan_commands
from nsadmin.tui.actions.row_actions import FieldTexts, RowAction, RowSubject
from nsadmin.tui.base_app import BaseTui


class RowActionController:
    def __init__(self, app: BaseTui) -> None:
        self._app = app

    # The rows.

    def find_current_subject(self) -> RowSubject:
        """The objects of the row at the cursor."""
        app = self._app
        row = app.row_grid.cursor_item
        if row is None and not app.current_view.is_drawing:
            return self._add_cluster(RowSubject())
        return self._add_cluster(app.current_view.subject_of_row(row))

    def list_subjects(self) -> list[RowSubject]:
        """The objects of all marked rows, also of hidden ones. Without marks, of the row at the cursor."""
        app, marked_keys = self._app, self._app.view_state.marked_keys
        marked_rows = [row for row in app.all_rows if app.current_view.row_key(row) in marked_keys]
        if not marked_rows:
            return [self.find_current_subject()]
        return [self._add_cluster(app.current_view.subject_of_row(row)) for row in marked_rows]

    def _add_cluster(self, subject: RowSubject) -> RowSubject:
        """Add the cluster to the objects of a row, if there is only one cluster."""
        clusters = {broker.cluster_name for broker in self._app.model.brokers.values()}
        if subject.cluster is None and len(clusters) == 1:
            return subject._replace(cluster=next(iter(clusters)))
        return subject

    # Actions.

    def start_action(self, action_id: str) -> None:
        self._start_first(lambda action: action.action_id == action_id)

    def act_by_key(self, key: str) -> None:
        """Start the action of a key. Several actions share a key and apply to different kinds of rows."""
        self._start_first(lambda action: action.shortcut_key == key)

    def _start_first(self, is_wanted: Callable[[RowAction], bool]) -> None:
        """Start the first wanted action that applies to all rows."""
        subjects = self.list_subjects()
        wanted = [action for action in row_actions.ALL_ACTIONS if is_wanted(action)]
        counts = [sum(map(action.applies_to, subjects)) for action in wanted]
        action, count = wanted[counts.index(max(counts))], max(counts)
        if count == len(subjects):
            self._prepare_action(action, subjects)
        elif len(subjects) > 1:
            count_text = f"{count} of {len(subjects)} marked rows"
            text = f"{action.display_name} applies to {count_text}: unmark the others with m"
            self._app.show_message(text, "warn")
        else:
            text = "this action does not apply to this row; press Space for its actions"
            self._app.show_message(text, "warn")

    def show_action_menu(self) -> None:
        """Show the actions that apply to the row, or to all marked rows."""
        app, subjects = self._app, self.list_subjects()
        if app.cluster_context.read_only:
            app.show_message("this context is read-only: actions are disabled", "warn")
            return
        actions = [a for a in row_actions.ALL_ACTIONS if all(map(a.applies_to, subjects))]
        if not actions:
            rows_text = f"all {len(subjects)} marked rows" if len(subjects) > 1 else "this row"
            app.show_message(f"no action applies to {rows_text}", "warn")
            return
        choices = [(a.action_id, f"{a.shortcut_key}  {a.display_name:<14} {a.help_text}") for a in actions]
        title = f"Actions on {len(subjects)} rows" if len(subjects) > 1 else "Actions"
        by_letter = {action.shortcut_key: action.action_id for action in actions}
        app.choose(title, choices, self.start_action, choice_by_letter=by_letter)

    def _prepare_action(self, action: RowAction, subjects: Sequence[RowSubject]) -> None:
        """Ask for the fields of the action once, with the values of the first row."""
        app = self._app
        if app.cluster_context.read_only:
            app.show_message(f"{action.display_name}: disabled, because the context is read-only", "bad")
            return
        if not action.input_fields:
            self._preview_action(action, subjects, {})
            return
        first = subjects[0]
        target_text = action.confirm_target(first) if len(subjects) == 1 else f"{len(subjects)} marked rows"
        app.ask_fields(
            f"{action.display_name}: {target_text}",
            [(name, read_current(first)) for name, read_current in action.input_fields.items()],
            lambda texts: self._preview_action(action, subjects, texts),
        )

    # Previews.

    def _preview_action(self, action: RowAction, subjects: Sequence[RowSubject], texts: FieldTexts) -> None:
        commands = plan_commands(action, subjects, texts)
        changes = [command for command in commands if not command.is_check]
        if len(changes) == 1:
            self.open_change_screen(changes[0].words, changes[0].title)
        else:
            title = f"{action.display_name}: {count_noun(len(changes), 'command')}"
            self.open_batch_screen(title, commands, f"{action.display_name} {len(changes)}")

    def open_change_screen(self, words: Sequence[str], confirm_target: str) -> None:
        """Preview one change, and run it after a confirmation."""
        from nsadmin.tui.screens.confirmation import ChangeScreen

        app = self._app
        screen = ChangeScreen(words, app.cluster_context.words, confirm_target, app.jobs)
        app.push_screen(screen, lambda exit_code: app.feed.look_now())

    def open_batch_screen(
        self,
        title: str,
        commands: Sequence[PlannedCommand],
        confirm_text: str,
        intro_lines: Sequence[str] = (),
        handle_end: Callable[[bool | None], None] = lambda is_done: None,
    ) -> None:
        """Preview several changes, and run all of them after one confirmation."""
        from nsadmin.tui.screens.confirmation import BatchChangeScreen

        app = self._app

        def finish_batch(is_done: bool | None) -> None:
            handle_end(is_done)
            if is_done:
                app.view_state.marked_keys.clear()
            if is_done is not None:
                app.feed.look_now()

        options = app.cluster_context.words
        screen = BatchChangeScreen(title, commands, options, confirm_text, intro_lines, app.jobs)
        app.push_screen(screen, finish_batch)
