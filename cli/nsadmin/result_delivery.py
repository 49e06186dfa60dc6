"""Writes what a command returned to stdout: rows or text, once or repeatedly, in the format of --output."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nsadmin import exit_codes, output, stderr
from nsadmin.exit_codes import ExitCode, UsageError
from nsadmin.output import ResultRows
from nsadmin.registry import CommandEntry
from nsadmin.session import Session

if TYPE_CHECKING:
    from nsadmin.command_line.typer_commands import ParsedCommandLine


def mqadmin_form(
    command_entry: CommandEntry, parsed_line: "ParsedCommandLine"
) -> Callable[[ResultRows | str], str] | None:
    """Return the function that writes a result for --output mqadmin; None for all other formats."""
    output_style = parsed_line.options.style
    if output_style.output_format != "mqadmin" or command_entry.kind == "check":
        return None
    from nsadmin.commands.mqadmin.output_forms import OUTPUT_FORMS

    if command_entry.name not in OUTPUT_FORMS:
        raise UsageError(
            f"--output mqadmin exists only for {', '.join(OUTPUT_FORMS)}, not for {command_entry.typed_name}"
        )
    if output_style.selection != output.RowSelection() or not output_style.shows_headers:
        raise UsageError("--output mqadmin does not support --columns, --sort, --filter and --no-headers")
    if parsed_line.options.dry_run:
        raise UsageError(
            "--output mqadmin does not support --dry-run: its text says that the change was made"
        )
    from nsadmin.output.machine_formats import escape_cells

    command_form, argument_values = OUTPUT_FORMS[command_entry.name], parsed_line.arguments
    return lambda command_output: command_form(
        escape_cells(command_output) if isinstance(command_output, ResultRows) else command_output,
        argument_values,
    )


def watch_results(
    session: Session, period_seconds: float, run_once: Callable[[], Any]
) -> Iterator[ResultRows | str]:
    for result_number, result in enumerate(session.repeat_every(period_seconds, run_once)):
        if not isinstance(result, (ResultRows, str)):
            raise UsageError("--watch cannot be combined with an option that repeats the command, such as -i")
        if result_number:
            output.clear_screen(session.options.style)
        yield result


def deliver_result(
    session: Session, result: ResultRows | str | Iterator[ResultRows | str], ends_quietly: bool
) -> int:
    """Write rows, a text, or a series of them; return the exit code of the last.

    Ctrl-C during a series is a normal end if `ends_quietly`.
    """
    if isinstance(result, (ResultRows, str)):
        return _write_result(session, result)
    exit_code: int = ExitCode.DONE
    try:
        for partial_result in result:
            exit_code = _write_result(session, partial_result)
    except KeyboardInterrupt:
        if not ends_quietly:
            raise
        return ExitCode.DONE
    return exit_code


def _write_result(session: Session, command_output: ResultRows | str) -> int:
    if isinstance(command_output, str):
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
    try:
        if session.output_form is None:
            output.write_rows(command_output, session.options.style)
        else:
            output.write_text(session.output_form(command_output))
    except output.InvalidSelectionError as error:
        raise UsageError(str(error)) from None
    failure_count = sum(error is not None for error in command_output.errors)
    is_table = session.output_form is None and session.options.style.output_format in ("table", "wide")
    if is_table and not command_output.rows and not command_output.notes and not failure_count:
        session.write_remark("nothing to show: the list is empty")
    for note in command_output.notes:
        (stderr.write_stderr_line if failure_count else session.write_remark)(note)
    if failure_count and not command_output.notes:
        stderr.write_stderr_line(f"failed on {failure_count} of {len(command_output.errors)} servers")
    return exit_codes.exit_code_of_outcomes(command_output.errors) or command_output.done_code


def _fill_broker_identities(session: Session, result_rows: ResultRows) -> ResultRows:
    from nsadmin.commands.columns.broker_identities import fill_identities, lacks_identities

    return fill_identities(session, result_rows) if lacks_identities(result_rows) else result_rows
