"""Owns `main`: it runs the command of a line and writes the result."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple

import typer

from namesrv_core.errors import NotSupported, RocketMQError
from nsadmin import __version__
from nsadmin.client import NotFound, advised_command
from nsadmin.client.connection.addresses import make_finder
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.wall_clock import time
from nsadmin.command_line import registry, usage
from nsadmin.command_line.application import HELP_FLAGS, Actions, build_application, complete_line
from nsadmin.command_line.declarations import Parameter, declaration_of
from nsadmin.command_line.registry import CommandEntry
from nsadmin.command_line.shared_options import connection_words
from nsadmin.command_line.typer_commands import HelpRequested, ParsedCommandLine, SessionCommand, read_values
from nsadmin.console import exit_codes, output, settings, stderr
from nsadmin.console.exit_codes import CommandInterrupted, ExitCode, UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun, failed_on
from nsadmin.console.session import Session
from nsadmin.console.settings import context_choice
from nsadmin.console.settings.name_server_discovery import DISCOVERY_OPTIONS

_BEGIN_PARAMETERS, _END_PARAMETERS = ("since_text", "begin_text", "start_text"), ("until_text", "end_text")
"""The names that commands give to the begin and the end of a window of time."""
_SERVER_CHOICES = ("context", "bundle", "kube", "ssh", *(name for name, _ in DISCOVERY_OPTIONS))
"""The shared options that choose servers; the other connection options say how to ask them."""
_NAMED_COMMAND = re.compile(r"\bnsadmin ([a-z]\w*(?: [a-z]\w*)?)")


class BatchContext(NamedTuple):
    """What a batch gives to each of its lines: shared options and connections."""

    shared_values: Mapping[str, Any]
    connection_pool: Pool


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    # The caller closed these streams, so nothing is written to them.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    try:
        if "_NSADMIN_COMPLETE" in os.environ:
            return _complete_in_shell(words)
        return run_command_line(words)
    except (Exception, KeyboardInterrupt) as error:
        return stderr.report_failure(error, "--debug" in words)


def _complete_in_shell(words: Sequence[str]) -> int:
    """Print what can replace the last word: a line for each value, with its description behind a tab.

    There is no use for errors while typing: then there are no values.
    """
    *words_before, typed_word = words
    with suppress(Exception):
        for value, description in complete_line(words_before, typed_word):
            output.write_text(f"{value}\t{description}" if description else value)
    return ExitCode.DONE


def run_command_line(words: list[str], batch: BatchContext | None = None) -> int:
    """Run one command line; a line of a batch has its `batch`."""
    stderr.set_context_label(None)
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            # A server would get question marks.
            raise UsageError(f"invalid UTF-8 in the argument {word!r}") from None
    actions = Actions(partial(_run_command, batch), partial(_show_help, batch), _show_group, _show_version)
    application = build_application()
    try:
        with application.make_context("nsadmin", words, obj=actions) as ctx:
            return int(application.invoke(ctx))
    except HelpRequested as request:
        # Imported late, because few command lines need it.
        from nsadmin.help_pages.command_page import command_text

        output.write_text(command_text(request.entry))
        return ExitCode.DONE
    except typer.Exit as end:
        return end.exit_code


def _show_version(further_words: Sequence[str]) -> int:
    if set(HELP_FLAGS).intersection(further_words):
        return _show_help(None, ["version"])
    if further_words:
        raise usage.unexpected_argument(further_words[0], "nsadmin version")
    output.write_text(f"nsadmin {__version__}")
    return ExitCode.DONE


def _show_help(batch: BatchContext | None, words: Sequence[str]) -> int:
    from nsadmin.help_pages import help_command

    page_text = help_command.find_page(words)
    if page_text is None:
        return run_command_line([*words, "--help"], batch)
    output.write_text(page_text)
    return ExitCode.DONE


def _show_group(name: str, wants_help: bool) -> int:
    from nsadmin.help_pages import command_lists

    output.write_text(command_lists.group_text(name))
    # Without the name of a check, a monitoring system must not read "OK".
    is_bare_check = name == command_lists.CHECK_GROUP and not wants_help
    return exit_codes.PLUGIN_UNKNOWN if is_bare_check else ExitCode.DONE


def _run_command(
    batch: BatchContext | None, words: Sequence[str], command: SessionCommand, values: Mapping[str, Any]
) -> int:
    """Run a command with its parsed values; every failure of a check is UNKNOWN, as plugins require."""
    entry = command.entry
    if batch and entry.kind in ("batch", "screen", "program"):
        raise UsageError(f"{entry.typed_name} cannot run in a batch")
    if entry.kind == "program":
        return int(command.function(**read_values(command, values).arguments))
    try:
        parsed_line = read_values(command, values, batch and batch.shared_values)
        if entry.kind == "batch":
            return _run_batch(command, parsed_line)
        options = parsed_line.options
        with settings.enter_bundle(options) as options:
            command_run = CommandRun(command, words, parsed_line._replace(options=options), batch)
            stderr.set_context_label(
                options.context,
                options.color if options.style.uses_color else None,
                command_run.complete_commands,
            )
            return command_run.perform()
    except (BrokenPipeError, CommandInterrupted):
        raise
    except Exception as error:
        if entry.kind != "check":
            raise
        stderr.report_failure(error, "--debug" in words)
        return exit_codes.PLUGIN_UNKNOWN


def _run_batch(command: SessionCommand, parsed_line: ParsedCommandLine) -> int:
    """Run the lines of a batch one after another, over the same connections."""
    connection_pool = Pool()
    batch = BatchContext(parsed_line.shared_values, connection_pool)
    session = Session(parsed_line.options, run_line=partial(_run_batch_line, batch))
    try:
        return int(command.function(session, **parsed_line.arguments))
    finally:
        connection_pool.close()


def _run_batch_line(batch: BatchContext, words: list[str]) -> int:
    """Run one line of a batch and return its exit code; Ctrl-C and a closed pipe end the batch."""
    try:
        return run_command_line(words, batch)
    except (KeyboardInterrupt, CommandInterrupted, BrokenPipeError):
        raise
    except Exception as error:
        return stderr.report_failure(error, batch.shared_values["debug"] or "--debug" in words)


class CommandRun:
    """One run of a command in a session: its result, its exit code, and its line in the audit."""

    def __init__(
        self,
        command: SessionCommand,
        words: Sequence[str],
        parsed_line: ParsedCommandLine,
        batch: BatchContext | None,
    ) -> None:
        self._entry = command.entry
        self.function = command.function
        self._parameters = command.own_parameters
        self._words = words
        self._arguments = parsed_line.arguments
        self._options = parsed_line.options
        self._is_in_batch = batch is not None
        self._session = Session(
            parsed_line.options,
            may_change=self._entry.may_change,
            connection_pool=batch and batch.connection_pool,
        )
        self._session.shared_values = parsed_line.shared_values
        self._session.output_form = _mqadmin_form(self._entry, parsed_line)
        self._session.record_begun = lambda rows: self._append_to_audit(rows, ExitCode.INTERRUPTED)
        self._result: Any = None
        self._run_once: Callable[[], Any] = self._run_for_each_name

    def perform(self) -> int:
        context = copy_context()
        context.run(advised_command.connection_words.set, self._connection_words)
        context.run(advised_command.own_connection.set, self._list_own_connection)
        return context.run(self._perform)

    def _connection_words(self, advised_words: Sequence[str], connection: Sequence[str]) -> Sequence[str]:
        """The given or typed options that choose servers, if the command would reach others without them."""
        if not {"--context", "-n"}.isdisjoint(advised_words):
            return []
        words = list(connection)
        if not words and any(map(self._session.shared_values.get, _SERVER_CHOICES)):
            words = self._list_typed_connection()
        entry, _ = registry.take_command(advised_words)
        if entry is None or entry.kind in ("local", "program"):
            return []
        return [] if words == self._list_default_connection() else words

    def _list_own_connection(self) -> list[str]:
        """The options with which a command reaches the same servers, whatever its defaults are."""
        values, context_name = self._session.shared_values, self._session.options.own_context
        words = self._list_typed_connection()
        if any(values.get(name) for name in _SERVER_CHOICES if name != "ssh"):
            return words
        return [*(("--context", context_name) if context_name else self._list_default_connection()), *words]

    def _list_typed_connection(self) -> list[str]:
        """The typed options that say how to reach servers. Advice needs no timeout."""
        return connection_words({**self._session.shared_values, "timeout": None})

    @staticmethod
    def _list_default_connection() -> list[str]:
        """The options that say what a command does without options; [] without a context or NAMESRV_ADDR."""
        if namesrv_addr := os.environ.get("NAMESRV_ADDR"):
            return ["-n", namesrv_addr]
        current_name = None
        with suppress(UsageError):
            current_name = context_choice.choose_context(None, lambda warning: None).name
        return ["--context", current_name] if current_name else []

    def complete_commands(self, text: str) -> str:
        """Add these options to the commands that a text names without options."""

        def complete(match: re.Match[str]) -> str:
            words = match[1].split()
            name_length = len(words) - len(registry.take_command(words)[1])
            typed_words = self._connection_words(words, ())
            # Another command of the line may have them already.
            its_own_text = text[match.end() :].partition("nsadmin ")[0]
            if not typed_words or shlex.join(typed_words) in its_own_text:
                return match[0]
            return shlex.join(["nsadmin", *words[:name_length], *typed_words, *words[name_length:]])

        return _NAMED_COMMAND.sub(complete, text)

    def _perform(self) -> int:
        session = self._session
        exit_code: int = ExitCode.FAILED
        try:
            self._require_consent()
            self._require_known_columns()
            self._warn_of_future()
            exit_code = self._deliver_result()
            self._tell_undo(exit_code)
            if isinstance(self._result, ResultRows):
                for hint in self._suggest_names(exit_code) or self._advise_on_errors(self._result.errors):
                    session.write_remark(hint)
            return exit_code
        except KeyboardInterrupt:
            exit_code = ExitCode.INTERRUPTED
            raise CommandInterrupted(session.describe_interruption()) from None
        except output.UnwritableOutputError as error:
            if session.sent_changes.first_exchanges:
                error.add_note(session.sent_changes.describe_outcomes())
            raise
        except RocketMQError as error:
            exit_code = exit_codes.exit_code_of_error(error)
            suggestions = self._suggest_names(exit_code)
            if suggestions:
                # They say again that the name is unknown, so they replace the error.
                suggestion = NotFound("; ".join(suggestions))
                for note in getattr(error, "__notes__", ()):
                    suggestion.add_note(note)
                raise suggestion from error
            window = " ".join(f"{p.long_flag} {format_utc(time_ms)}" for p, time_ms in self._read_times())
            if window and exit_code == ExitCode.NOT_FOUND:
                error.add_note(f"searched with {window}")
            for hint in self._advise_on_errors([error]):
                error.add_note(hint)
            raise
        except BaseException as error:
            exit_code = exit_codes.exit_code_of_error(error)
            raise
        finally:
            session.close()
            if session.sent_changes.first_exchanges:
                self._append_to_audit(self._result, exit_code)

    def _tell_undo(self, exit_code: int) -> None:
        if self._session.sent_changes.first_exchanges and declaration_of(self.function).undo_lines:
            # Imported late: only changes are undone.
            from nsadmin.commands.history.undo_commands import find_undo

            if undo := find_undo(self._build_audit_record(self._result, exit_code)):
                self._session.write_remark(f"to undo it: {undo}")

    def _deliver_result(self) -> int:
        """Run the command, once or with --watch, and write what it returns."""
        run_once, seconds = self._run_once, self._options.watch
        self._result = run_once() if seconds is None else _watch_results(self._session, seconds, run_once)
        exit_code = self._write_series(self._result)
        is_success = not exit_code or (
            isinstance(self._result, ResultRows) and exit_code == self._result.done_code
        )
        if is_success and not self._session.is_complete and self._entry.kind != "check":
            return ExitCode.PARTLY
        return exit_code

    def _run_for_each_name(self) -> Any:
        """Run the command, or for each of several topics or groups if its parameter allows several."""
        run = partial(self.function, self._session, **self._arguments)
        for parameter in self._parameters:
            if parameter.means_several(self._arguments[parameter.name]):
                # Imported late: most commands run once.
                from nsadmin.command_line.each_name import run_for_each

                return run_for_each(self._session, parameter, self._arguments[parameter.name], run)
        return run()

    def _require_consent(self) -> None:
        if self._entry.kind in ("change", "delete"):
            self._session.require_writable(self._entry.typed_name)
        if self._entry.kind == "delete" and not declaration_of(self.function).counts_first:
            failed_rows = self._rehearse()
            if failed_rows is not None:
                self._run_once = lambda: failed_rows
                return
            effect = f"{self._entry.help[:1].lower()}{self._entry.help[1:]}"
            self._session.require_yes(
                " ".join([self._entry.typed_name, *self._describe_arguments()]),
                f"this would {effect}, which cannot be undone",
            )

    def _rehearse(self) -> ResultRows | None:
        """The rows of a dry run that can do nothing, so that there is nothing to agree to; else None.

        Raises the error of such a dry run.
        """
        if self._options.yes or self._options.dry_run:
            return None
        with self._session.rehearse() as rehearsal:
            result = self.function(rehearsal, **self._arguments)
        can_act = not isinstance(result, ResultRows) or not result.errors or None in result.errors
        return None if can_act else result

    def _require_known_columns(self) -> None:
        """Raise UsageError for an unknown column before any request is sent."""
        columns, selection = declaration_of(self.function).column_names, self._options.style.selection
        if columns and selection != output.RowSelection():
            from nsadmin.console.output.row_selection import select_rows

            try:
                select_rows(ResultRows(columns, []), selection)
            except output.InvalidSelectionError as error:
                raise UsageError(str(error)) from None

    def _write_series(self, result: ResultRows | str | Iterator[ResultRows | str]) -> int:
        """Write rows, a text, or a series of them; return the exit code of the last.

        Ctrl-C during a series is a normal end, except in a batch.
        """
        if isinstance(result, (ResultRows, str)):
            return self._write_result(result)
        exit_code: int = ExitCode.DONE
        try:
            for partial_result in result:
                exit_code = self._write_result(partial_result)
        except KeyboardInterrupt:
            if self._is_in_batch:
                raise
            return ExitCode.DONE
        return exit_code

    def _write_result(self, command_output: ResultRows | str) -> int:
        session = self._session
        if isinstance(command_output, str):
            typed_format = session.shared_values.get("output")
            if typed_format in output.ROW_FORMATS:
                raise UsageError(
                    f"{self._entry.typed_name} prints a text here, and no rows: omit --output {typed_format}"
                )
            output.write_text(
                command_output if session.output_form is None else session.output_form(command_output)
            )
            if isinstance(command_output, output.CheckVerdict):
                return command_output.exit_code
            return (
                exit_codes.exit_code_of_outcomes(command_output.errors)
                if isinstance(command_output, output.OutputText)
                else ExitCode.DONE
            )
        if "brokerName" in command_output.columns:
            command_output = _fill_broker_identities(session, command_output)
        if session.options.style.output_format == "table":
            notes = [*command_output.notes, *command_output.table_notes]
            command_output = command_output._replace(notes=notes)
        written = command_output
        try:
            if session.output_form is None:
                written = output.write_rows(command_output, session.options.style)
            else:
                output.write_text(session.output_form(command_output))
        except output.InvalidSelectionError as error:
            raise UsageError(str(error)) from None
        failure_count = sum(error is not None for error in command_output.errors)
        is_table = session.output_form is None and session.options.style.output_format in ("table", "wide")
        has_rows = written.rows or (command_output.rows and self._entry.kind not in ("read", "local"))
        write_note = stderr.write_stderr_line if failure_count else session.write_remark
        is_partial = (
            0 < failure_count < len(command_output.errors) and declaration_of(self.function).nothing != ""
        )
        is_told = bool(command_output.notes or failure_count)
        is_filtered = bool(command_output.rows and self._options.style.selection.filters)
        if is_table and not has_rows and (is_partial or is_filtered or not is_told):
            write_note(self._describe_nothing(is_partial, len(command_output.rows)))
        for note in written.notes:
            write_note(note)
        session.written_notes += written.notes
        for note in () if command_output.notes else failed_on(command_output.errors):
            stderr.write_stderr_line(note)
        return exit_codes.exit_code_of_outcomes(command_output.errors) or command_output.done_code

    def _warn_of_future(self) -> None:
        for parameter, moment_ms in self._read_times():
            if parameter.name in _BEGIN_PARAMETERS and moment_ms > time() * 1000:
                from nsadmin.console.typed_times import suggest_past_time

                flag = parameter.long_flag
                advice = suggest_past_time(flag, self._arguments[parameter.name])
                self._session.write_remark(f"{flag} {format_utc(moment_ms)} is in the future{advice}")

    def _read_times(self) -> Iterator[tuple[Parameter, int]]:
        """The typed begin and end of a window, in ms since 1970."""
        for parameter in self._parameters:
            text = self._arguments[parameter.name]
            if parameter.name in (*_BEGIN_PARAMETERS, *_END_PARAMETERS) and isinstance(text, str):
                # Imported late: few command lines have a time.
                from nsadmin.console.typed_times import parse_time_ms

                # Some commands accept other words too, such as earliest.
                with suppress(ValueError, OverflowError, OSError):
                    yield parameter, parse_time_ms(text.strip(), int(time() * 1000))

    def _describe_nothing(self, is_partial: bool, total: int) -> str:
        """What an empty result means: no dead letters for analytics. Of silent servers, it says nothing.

        `total` is the number of rows that --filter left out.
        """
        answered = "the servers that answered"
        if total:
            # Imported late: few command lines have a condition.
            from nsadmin.console.output.row_selection import advise_filter

            filters = (f"--filter {shlex.quote(f)}" for f in self._options.style.selection.filters)
            text = f"{' '.join(filters)} matches none of {count_noun(total, 'row')}"
            advice = filter(None, map(advise_filter, self._options.style.selection.filters))
            text = ": ".join((text, *advice))
        else:
            words = self._describe_arguments() if self._entry.kind in ("read", "local") else []
            servers = answered if is_partial else ", ".join(self._session.namesrv_addrs) or "a name server"
            declared = declaration_of(self.function).nothing.replace("{servers}", servers)
            searched = f" for {' '.join(words)}" if words else ""
            text = f"{declared or f'{self._entry.typed_name} found nothing'}{searched}"
        return f"{text} on {answered}" if is_partial and answered not in text else text

    def _describe_arguments(self) -> list[str]:
        """The typed arguments, quoted, with times in UTC: `payments --since 2026-11-28T12:00:00.000Z`."""
        times = {parameter.name: format_utc(moment_ms) for parameter, moment_ms in self._read_times()}
        words: list[str] = []
        for parameter in self._parameters:
            value = self._arguments[parameter.name]
            # A limit is no condition that a row misses.
            if value not in (None, False, parameter.default, []) and parameter.long_flag != "--limit":
                words += [] if parameter.position is not None else [parameter.long_flag]
                values = value if isinstance(value, list) else [] if value is True else [value]
                words += [times.get(parameter.name) or str(single_value) for single_value in values]
        return list(map(shlex.quote, words))

    def _suggest_names(self, exit_code: int) -> list[str]:
        """A line for each typed name that servers do not know and that is similar to a known one."""
        if self._options.quiet or exit_code != ExitCode.NOT_FOUND:
            return []
        from nsadmin.command_line.server_name_suggestions import suggest_names
        from nsadmin.operations.inventory.keeper import open_inventory

        with self._session.open_brief_client() as admin:
            return suggest_names(
                self.function,
                self._arguments,
                admin,
                open_inventory(self._session),
                ask_name_servers=bool(self._session.namesrv_addrs),
            )

    def _advise_on_errors(self, errors: Sequence[RocketMQError | None]) -> list[str]:
        if self._options.quiet or not any(errors):
            return []
        from nsadmin.console.advice import advise_on_errors

        targets = (
            f"{parameter.flags[0]} {shlex.quote(value)}"
            for parameter in self._parameters
            if parameter.flags[0] in ("-b", "-c")
            and isinstance(value := self._arguments[parameter.name], str)
        )
        name_servers = None
        # If nothing answers behind a tunnel, the tunnel may be the cause.
        if self._session.namesrv_addrs and self._options.access.tunnel is None:
            name_servers = self._session.admin.addresses
        elif any(isinstance(error, NotSupported) for error in errors):
            with suppress(RocketMQError):
                name_servers = make_finder(self._options.namesrv_addr)()
        return advise_on_errors(errors, next(targets, "-c CLUSTER"), name_servers)

    def _build_audit_record(self, result: Any, exit_code: int) -> dict[str, Any]:
        # Imported late: only changes are recorded.
        from nsadmin.console import audit

        command_words = [self._entry.name, *self._words]
        rows = result if isinstance(result, ResultRows) else None
        return audit.build_audit_record(self._session, command_words, self._arguments, rows, exit_code)

    def _append_to_audit(self, result: Any, exit_code: int) -> None:
        from nsadmin.console import audit

        audit.append_audit_record(self._build_audit_record(result, exit_code), syncs=True)


def _mqadmin_form(
    command_entry: CommandEntry, parsed_line: ParsedCommandLine
) -> Callable[[ResultRows | str], str] | None:
    """Return the function that writes a result for --output mqadmin; None for all other formats."""
    output_style = parsed_line.options.style
    if output_style.output_format != "mqadmin" or command_entry.kind == "check":
        return None
    from nsadmin.commands.mqadmin.output_forms import OUTPUT_FORMS

    if command_entry.name not in OUTPUT_FORMS:
        raise UsageError(
            f"--output mqadmin is not for {command_entry.typed_name}, only for {', '.join(OUTPUT_FORMS)}"
        )
    if output_style.selection != output.RowSelection() or not output_style.shows_headers:
        raise UsageError(
            "--output mqadmin does not support --columns, --sort, --filter, --limit and --no-headers"
        )
    if parsed_line.options.dry_run:
        raise UsageError(
            "--output mqadmin does not support --dry-run: its text says that the change was made"
        )
    from nsadmin.console.output.machine_formats import escape_cells

    command_form, argument_values = OUTPUT_FORMS[command_entry.name], parsed_line.arguments
    return lambda command_output: command_form(
        escape_cells(command_output) if isinstance(command_output, ResultRows) else command_output,
        argument_values,
    )


def _watch_results(
    session: Session, period_seconds: float, run_once: Callable[[], Any]
) -> Iterator[ResultRows | str]:
    for result_number, result in enumerate(session.repeat_every(period_seconds, run_once)):
        if not isinstance(result, (ResultRows, str)):
            raise UsageError("--watch cannot be combined with an option that repeats the command, such as -i")
        if result_number:
            output.clear_screen(session.options.style)
        yield result


def _fill_broker_identities(session: Session, result_rows: ResultRows) -> ResultRows:
    from nsadmin.commands.columns.broker_identities import fill_identities, lacks_identities

    return fill_identities(session, result_rows) if lacks_identities(result_rows) else result_rows
