"""The commands of one action on several rows, and the result of each. Pure."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import FieldTexts, RowAction, RowSubject, meaning_of_code
from nsadmin.tui.views.base_view import CellLine
from nsadmin.tui.views.table import Cell, escape_unprintable


class PlannedCommand(NamedTuple):
    """A command line for one row, with the name of what it changes.

    A check runs only in the preview. It covers all rows together, and must succeed.
    """

    title: str
    words: Sequence[str]
    is_check: bool = False


def plan_commands(
    action: RowAction, subjects: Sequence[RowSubject], texts: FieldTexts
) -> list[PlannedCommand]:
    """A command for each row; rows of the same object, such as a master and its slave, share one."""
    if action.join_subjects is not None:
        subjects = action.join_subjects(subjects)
    title_by_words = {tuple(action.build_words(s, texts)): action.confirm_target(s) for s in subjects}
    commands = [PlannedCommand(title, words) for words, title in title_by_words.items()]
    if action.build_check is not None and len(commands) > 1:
        check_words = action.build_check([planned.title for planned in commands])
        commands.insert(0, PlannedCommand("all together", check_words, is_check=True))
    return commands


CommandStage = Literal["waiting", "previewing", "previewed", "running", "started", "ended", "skipped"]

_STAGE_TEXTS: dict[CommandStage, tuple[str, str, str]] = {
    "waiting": ("·", "waits for its preview", "dim"),
    "previewing": ("…", "preview runs", "accent"),
    "previewed": ("○", "preview is ready", ""),
    "running": ("…", "runs", "accent"),
    "started": ("▷", "runs in the background", "good"),
    "skipped": ("–", "not run", "warn"),
}


class CommandProgress(NamedTuple):
    """How far a planned command is. `exit_code` is that of the last run; None if it has not ended."""

    command: PlannedCommand
    stage: CommandStage = "waiting"
    exit_code: int | None = None

    @property
    def has_failed(self) -> bool:
        return bool(self.exit_code)

    def render_line(self, title_width: int) -> CellLine:
        """The sign, the title, and the result in words."""
        if self.exit_code:
            meaning = meaning_of_code(self.exit_code, self.command.words)
            verb = "preview failed" if self.stage == "previewed" else "failed"
            sign, stage_text, tone = "✕", f"{verb}: exit code {self.exit_code}, {meaning}".rstrip(", "), "bad"
        elif self.stage == "ended":
            sign, stage_text, tone = "✓", "done", "good"
        elif self.command.is_check and self.stage == "previewed":
            sign, stage_text, tone = "✓", "the check succeeded", "good"
        else:
            sign, stage_text, tone = _STAGE_TEXTS[self.stage]
        title = f"{escape_unprintable(self.command.title):<{title_width}}  "
        return [Cell(f" {sign} ", tone), Cell(title, "strong"), Cell(stage_text, tone)]


def summarize_progress(progress_list: Sequence[CommandProgress]) -> str:
    """One line with the number of commands by result."""
    changes = [progress for progress in progress_list if not progress.command.is_check]
    failed_count = sum(progress.has_failed for progress in changes)
    done_count = sum(p.stage in ("ended", "started") and not p.has_failed for p in changes)
    open_count = len(changes) - done_count - failed_count
    counts = ((done_count, "done"), (failed_count, "failed"), (open_count, "not run"))
    change_count = count_noun(len(changes), "change")
    return f"{change_count}: " + ", ".join(f"{count} {word}" for count, word in counts if count)
