"""The controller of the actions on rows: on the row at the cursor, or on all marked rows at once."""

from collections.abc import Callable, Sequence

from nsadmin.tui.actions import row_actions
from nsadmin.tui.actions.planned_commands import PlannedCommand, plan_commands
from nsadmin.tui.actions.row_actions import RowAction, RowSubject
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.screens.background_jobs import BackgroundJobs


class RowActionController:
    """Controls the actions of one app. `poll_after_change` is called with the exit code of a change."""

    def __init__(
        self, app: BaseTui, jobs: BackgroundJobs, poll_after_change: Callable[[int | None], None]
    ) -> None:
        self._app = app
        self._jobs = jobs
        self._poll_after_change = poll_after_change

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
        """Start the action with this id."""
        self._start_first(lambda action: action.action_id == action_id)

    def act_by_key(self, key: str) -> None:
        """Start the action of a key. Several actions share a key and apply to different kinds of rows."""
        self._start_first(lambda action: action.shortcut_key == key)

    def _start_first(self, is_wanted: Callable[[RowAction], bool]) -> None:
        """Start the first wanted action that applies to all rows."""
        subjects = self.list_subjects()
        wanted = [action for action in row_actions.all_actions() if is_wanted(action)]
        if not wanted:
            return
        counts = [sum(map(action.applies_to, subjects)) for action in wanted]
        if len(subjects) in counts:
            self._prepare_action(wanted[counts.index(len(subjects))], subjects)
        elif len(subjects) > 1:
            self._app.show_message(
                f"{wanted[counts.index(max(counts))].display_name} applies to {max(counts)} of "
                f"{len(subjects)} marked rows: unmark the others with m",
                "warn",
            )
        else:
            self._app.show_message(
                "this action does not apply to this row; press Space for its actions", "warn"
            )

    def show_action_menu(self) -> None:
        """Show the actions that apply to the row, or to all marked rows."""
        if self._app.cluster_context.read_only:
            self._app.show_message("this context is read-only: actions are disabled", "warn")
            return
        subjects = self.list_subjects()
        actions = [action for action in row_actions.all_actions() if all(map(action.applies_to, subjects))]
        if not actions:
            rows_text = f"all {len(subjects)} marked rows" if len(subjects) > 1 else "this row"
            self._app.show_message(f"no action applies to {rows_text}", "warn")
            return
        from nsadmin.tui.screens.dialogs import ChooseScreen

        choices = [
            (action.action_id, f"{action.shortcut_key}  {action.display_name:<14} {action.help_text}")
            for action in actions
        ]
        action_id_by_key = {action.shortcut_key: action.action_id for action in actions}
        title = f"Actions on {len(subjects)} rows" if len(subjects) > 1 else "Actions"
        self._app.push_screen(
            ChooseScreen(title, choices, choice_by_letter=action_id_by_key), self._start_chosen_action
        )

    def _start_chosen_action(self, action_id: str | None) -> None:
        if action_id is not None:
            self.start_action(action_id)

    def _prepare_action(self, action: RowAction, subjects: Sequence[RowSubject]) -> None:
        """Ask for the fields of the action once, with the values of the first row."""
        app = self._app
        if app.cluster_context.read_only:
            app.show_message(f"{action.display_name}: disabled, because the context is read-only", "bad")
            return
        if not action.input_fields:
            self._preview_action(action, subjects, {})
            return
        from nsadmin.tui.screens.dialogs import FieldsScreen

        field_values = [(field.field_name, field.read_current(subjects[0])) for field in action.input_fields]
        target_text = (
            action.confirm_target(subjects[0]) if len(subjects) == 1 else f"{len(subjects)} marked rows"
        )
        app.push_screen(
            FieldsScreen(f"{action.display_name}: {target_text}", field_values),
            lambda texts: None if texts is None else self._preview_action(action, subjects, texts),
        )

    # Previews.

    def _preview_action(
        self, action: RowAction, subjects: Sequence[RowSubject], texts: dict[str, str]
    ) -> None:
        commands = plan_commands(action, subjects, texts)
        changes = [planned for planned in commands if not planned.is_check]
        if len(changes) == 1:
            self.open_change_screen(changes[0].command_words, changes[0].title)
        else:
            self.open_batch_screen(
                f"{action.display_name}: {len(changes)} commands",
                commands,
                f"{action.display_name} {len(changes)}",
            )

    def open_change_screen(self, command_words: Sequence[str], confirm_target: str) -> None:
        """Preview one change, and run it after a confirmation."""
        from nsadmin.tui.screens.command_output import ChangeScreen

        self._app.push_screen(
            ChangeScreen(command_words, self._app.cluster_context.words, confirm_target, self._jobs),
            self._poll_after_change,
        )

    def open_batch_screen(
        self,
        title: str,
        planned: Sequence[PlannedCommand],
        confirm_text: str,
        intro_lines: Sequence[str] = (),
        handle_end: Callable[[bool | None], None] = lambda is_done: None,
    ) -> None:
        """Preview several changes, and run all of them after one confirmation."""
        from nsadmin.tui.screens.batch_change import BatchChangeScreen

        def finish_batch(is_done: bool | None) -> None:
            handle_end(is_done)
            if is_done:
                self._app.view_state.marked_keys.clear()
            if is_done is not None:
                self._poll_after_change(0)

        batch_screen = BatchChangeScreen(
            title, planned, self._app.cluster_context.words, confirm_text, intro_lines, self._jobs
        )
        self._app.push_screen(batch_screen, finish_batch)
