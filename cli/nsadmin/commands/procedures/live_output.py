"""Reports a procedure's events while it runs: redrawn in place on a terminal, else as lines or JSON."""

import json
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from namesrv_core.printable_text import escape_unsafe
from nsadmin.commands.procedures import signals
from nsadmin.console.exit_codes import CommandInterrupted, UsageError
from nsadmin.console.output import OutputText
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.drain.events import describe_status
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord

if TYPE_CHECKING:
    from nsadmin.console.output.live_display import LiveDisplay

# After these events a command of the operator can run and write to the terminal.
_EVENTS_BEFORE_COMMANDS = ("safe", "stepBegan")
_LINE_FORMATS = ("table", "wide", "json", "jsonl")


class ProcedureReporter:
    """Turns each event into a line of text; empty if it was drawn in place or repeats the last line.

    It is a context manager, because it must restore the terminal. It raises UsageError for an output format
    without lines, such as CSV.
    """

    def __init__(
        self,
        session: Session,
        command_name: str,
        describe_event: Callable[[EventRecord], str],
        list_facts: Callable[[str, EventRecord], list[tuple[str, str]]] = describe_status,
    ) -> None:
        output_format = session.options.style.output_format
        if output_format not in _LINE_FORMATS:
            raise UsageError(
                f'invalid format "{output_format}" for --output: {command_name} supports only text and jsonl'
            )
        self._writes_json = output_format in ("json", "jsonl")
        self._style = session.options.style
        self._describe_event = describe_event
        self._list_facts = list_facts
        self._last_text = self._broker_name = ""
        self._live_region: LiveDisplay | None = None
        self._draws_progress = False

    def __enter__(self) -> Self:
        from nsadmin.console.output.live_display import can_draw_live

        self._draws_progress = can_draw_live(self._style)
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave_live_region()

    def follow(
        self, begin: Callable[[ProcedureClock], Iterator[EventRecord]], interruption: str
    ) -> Iterator[tuple[EventRecord, OutputText]]:
        """Run a procedure, and yield each event with its line. The first Ctrl-C ends it between two steps.

        Raises:
            CommandInterrupted: The operator ended it. `interruption` says how it goes on.
        """
        with signals.catch_stop_signals(signals.SYSTEM_CLOCK) as stop_signal, self:
            try:
                for event_record in begin(stop_signal.stoppable_clock):
                    yield event_record, self(event_record)
                    stop_signal.raise_if_requested()
            except signals.StopRequestedError:
                raise CommandInterrupted(interruption) from None

    def _leave_live_region(self) -> None:
        """Stop drawing in place: the last drawing stays, and later output appears below it."""
        if self._live_region is not None:
            self._live_region.close()
            self._live_region = None

    def __call__(self, event_record: EventRecord) -> OutputText:
        """The event as a line, or an empty text."""
        if self._writes_json:
            return OutputText(json.dumps(event_record, ensure_ascii=False))
        self._broker_name = event_record.get("broker", self._broker_name)
        if self._draws_progress and event_record["event"] == "progress":
            self._draw_progress(event_record)
            return OutputText("")
        event_text = self._describe_event(event_record)
        if event_text == self._last_text:
            return OutputText("")
        self._last_text = event_text
        if event_record["event"] in _EVENTS_BEFORE_COMMANDS:
            self._leave_live_region()
        timed_line = f"{format_utc(event_record['time'])} {escape_unsafe(event_text)}"
        if self._live_region is None:
            return OutputText(timed_line)
        self._live_region.print_line(timed_line)
        return OutputText("")

    def _draw_progress(self, event_record: EventRecord) -> None:
        from nsadmin.console.output.live_display import LiveDisplay

        if self._live_region is None:
            self._live_region = LiveDisplay(self._style)
        self._live_region.show_facts(self._list_facts(self._broker_name, event_record))
