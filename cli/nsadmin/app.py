"""Owns `main`: it finds the command, parses its line, runs it and writes the result."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin import __version__, exit_codes, output, registry, stderr
from nsadmin.client import NotFound
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.exit_codes import CommandInterrupted, ExitCode, UsageError
from nsadmin.output import ResultRows
from nsadmin.registry import CommandEntry
from nsadmin.session import Session

if TYPE_CHECKING:
    from nsadmin.command_line.parser import ParsedCommandLine

_HELP_FLAGS = frozenset(("-h", "--help"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    command_args = list(sys.argv[1:] if argv is None else argv)
    # The caller closed these streams, so nothing is written to them.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    try:
        _require_encodable(command_args)
        return int(_run_command_line(command_args))
    except (Exception, KeyboardInterrupt) as error:
        return stderr.report_failure(error, "--debug" in command_args)


def _require_encodable(command_args: Iterable[str]) -> None:
    """Raise UsageError for an argument that is no UTF-8: a server would get question marks."""
    for argument_text in command_args:
        try:
            argument_text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"invalid UTF-8 in the argument {argument_text!r}") from None


class _BatchContext(NamedTuple):
    """What a batch gives to each of its lines: shared options and connections."""

    shared_values: Mapping[str, Any]
    connection_pool: Pool


def _run_batch_line(batch_context: _BatchContext, command_words: list[str]) -> int:
    """Run one line of a batch and return its exit code; Ctrl-C and a closed pipe end the batch."""
    try:
        return int(_run_command_line(command_words, batch_context))
    except (KeyboardInterrupt, CommandInterrupted, BrokenPipeError):
        raise
    except Exception as error:
        return stderr.report_failure(
            error, batch_context.shared_values["debug"] or "--debug" in command_words
        )


def _run_command_line(command_args: list[str], batch_context: _BatchContext | None = None) -> int:
    stderr.set_context_label(None)
    leading_options, remaining_words = _split_at_command(command_args)
    if "--version" in leading_options or remaining_words[:1] == ["version"]:
        return _show_version(remaining_words[1:])
    if remaining_words[:1] == ["help"] or _HELP_FLAGS.intersection(leading_options):
        return _show_help(remaining_words[remaining_words[:1] == ["help"] :], batch_context)
    if not remaining_words:
        raise UsageError("missing command: nsadmin --help lists the commands")
    command_entry, command_words = registry.take_command(remaining_words)
    if command_entry is None:
        return _show_group_help(remaining_words)
    if batch_context and command_entry.kind in ("batch", "screen", "program"):
        raise UsageError(f"{command_entry.typed_name} cannot run in a batch")
    command_function = getattr(
        import_module(f"nsadmin.commands.{command_entry.module_name}"), command_entry.function_name
    )
    if command_entry.kind == "program":
        return _run_program(command_entry, command_function, leading_options + command_words)
    if command_entry.kind == "check":
        return _run_check(command_entry, command_function, leading_options + command_words, batch_context)
    return _parse_and_perform(command_entry, command_function, leading_options + command_words, batch_context)


def _show_version(further_words: list[str]) -> int:
    if _HELP_FLAGS.intersection(further_words):
        return _show_help(["version"], None)
    if further_words:
        from nsadmin.command_line.usage_errors import unexpected_argument

        raise unexpected_argument(further_words[0], "nsadmin version")
    output.write_text(f"nsadmin {__version__}")
    return ExitCode.DONE


def _show_help(help_words: list[str], batch_context: _BatchContext | None) -> int:
    # Imported late, because few command lines need it.
    from nsadmin.help_pages import help_command

    page_text = help_command.find_page(help_words)
    if page_text is None:
        return _run_command_line([*help_words, "--help"], batch_context)
    output.write_text(page_text)
    return ExitCode.DONE


def _show_group_help(command_words: list[str]) -> int:
    from nsadmin.help_pages import command_lists, help_command, unknown_commands

    if not help_command.is_group_help(command_words):
        raise unknown_commands.unknown_command_error(command_words)
    group_name = command_words[0].lower()
    output.write_text(command_lists.group_text(group_name))
    # Without the name of a check, a monitoring system must not read "OK".
    is_bare_check = group_name == command_lists.CHECK_GROUP and len(command_words) == 1
    return exit_codes.PLUGIN_UNKNOWN if is_bare_check else ExitCode.DONE


def _run_check(
    check_entry: CommandEntry,
    command_function: Any,
    command_args: list[str],
    batch_context: _BatchContext | None,
) -> int:
    """Run a check; every failure is UNKNOWN, as the guidelines for plugins require."""
    try:
        return _parse_and_perform(check_entry, command_function, command_args, batch_context)
    except (BrokenPipeError, CommandInterrupted):
        raise
    except Exception as error:
        stderr.report_failure(error, "--debug" in command_args)
        return exit_codes.PLUGIN_UNKNOWN


def _run_program(command_entry: CommandEntry, program_function: Any, argv: list[str]) -> int:
    if _HELP_FLAGS.intersection(argv) and command_entry in registry.COMMANDS:
        from nsadmin.help_pages.program_page import program_text

        flag_parser = import_module(program_function.__module__).flags()
        output.write_text(program_text(command_entry, program_function, flag_parser, argv))
        return ExitCode.DONE
    try:
        return int(program_function(argv))
    except SystemExit as program_exit:
        return program_exit.code if isinstance(program_exit.code, int) else ExitCode.FAILED


def _split_at_command(command_args: list[str]) -> tuple[list[str], list[str]]:
    """Split the line into the shared options before the command, and the rest from the command on."""
    if not command_args or command_args[0][:1] != "-" or command_args[0] in ("-h", "--help", "--version"):
        # The usual case needs no table of options.
        command_index = int(bool(command_args) and command_args[0].startswith("-"))
        return command_args[:command_index], command_args[command_index:]
    from nsadmin.command_line.fast_parser import find_options_end, flag_names
    from nsadmin.command_line.parser import leading_parameters

    shared_parameters = leading_parameters()
    command_index = find_options_end(shared_parameters, command_args)
    if command_args[command_index : command_index + 1] and command_args[command_index].startswith("-"):
        from nsadmin.command_line.usage_errors import unknown_option

        raise unknown_option(
            command_args[command_index].partition("=")[0],
            flag_names(shared_parameters),
            "write the options of a command after its name",
        )
    return command_args[:command_index], command_args[command_index:]


def _parse_and_perform(
    command_entry: CommandEntry,
    command_function: Any,
    command_args: list[str],
    batch_context: _BatchContext | None,
) -> int:
    # Imported late: help and programs do not need the parser.
    from nsadmin.command_line import parser
    from nsadmin.command_line.declarations import HelpRequested

    try:
        parsed_line = parser.parse_command_line(
            command_entry, command_function, command_args, batch_context and batch_context.shared_values
        )
    except HelpRequested:
        from nsadmin.help_pages.command_page import command_text

        output.write_text(command_text(command_entry, command_function))
        return ExitCode.DONE
    if command_entry.kind == "batch":
        return _perform_batch(command_function, parsed_line)
    return _perform_command(command_entry, command_function, command_args, parsed_line, batch_context)


def _perform_batch(command_function: Any, parsed_line: "ParsedCommandLine") -> int:
    """Run the lines of a batch one after another, over the same connections."""
    connection_pool = Pool()
    session = Session(
        parsed_line.options,
        run_line=partial(_run_batch_line, _BatchContext(parsed_line.shared_values, connection_pool)),
    )
    try:
        return int(command_function(session, **parsed_line.arguments))
    finally:
        connection_pool.close()


def _perform_command(
    command_entry: CommandEntry,
    command_function: Any,
    command_args: list[str],
    parsed_line: "ParsedCommandLine",
    batch_context: _BatchContext | None,
) -> int:
    # Imported late: help needs no settings.
    from nsadmin import settings

    shared_options = parsed_line.options
    stderr.set_context_label(
        shared_options.context, shared_options.color if shared_options.style.uses_color else None
    )
    with settings.enter_bundle(shared_options) as shared_options:
        return _perform_in_session(
            command_entry,
            command_function,
            command_args,
            parsed_line._replace(options=shared_options),
            batch_context,
        )


def _perform_in_session(
    command_entry: CommandEntry,
    command_function: Any,
    command_args: list[str],
    parsed_line: "ParsedCommandLine",
    batch_context: _BatchContext | None,
) -> int:
    from nsadmin import result_delivery

    shared_options = parsed_line.options
    session = Session(
        shared_options,
        may_change=command_entry.may_change,
        connection_pool=batch_context and batch_context.connection_pool,
    )
    session.shared_values = parsed_line.shared_values
    session.output_form = result_delivery.mqadmin_form(command_entry, parsed_line)
    run_once = partial(command_function, session, **parsed_line.arguments)
    result: Any = None
    exit_code: int = ExitCode.FAILED
    try:
        _require_consent(session, command_entry)
        _require_known_columns(command_function, shared_options.style.selection)
        watch_seconds = parsed_line.options.watch
        result = (
            run_once()
            if watch_seconds is None
            else result_delivery.watch_results(session, watch_seconds, run_once)
        )
        exit_code = result_delivery.deliver_result(session, result, batch_context is None)
        is_success = not exit_code or (isinstance(result, ResultRows) and exit_code == result.done_code)
        if is_success and not session.is_complete and command_entry.kind != "check":
            exit_code = ExitCode.PARTLY
        if isinstance(result, ResultRows):
            for hint_line in _suggest_names(session, run_once, exit_code) or _advise_on_errors(
                session, result.errors
            ):
                session.write_remark(hint_line)
    except KeyboardInterrupt:
        exit_code = ExitCode.INTERRUPTED
        raise CommandInterrupted(session.describe_interruption()) from None
    except output.UnwritableOutputError as error:
        if session.sent_changes.first_exchanges:
            error.add_note(session.sent_changes.describe_outcomes())
        raise
    except RocketMQError as error:
        exit_code = exit_codes.exit_code_of_error(error)
        suggestion_lines = _suggest_names(session, run_once, exit_code)
        if suggestion_lines:
            # They say again that the name is unknown, so they replace the error.
            suggestion = NotFound("; ".join(suggestion_lines))
            for error_note in getattr(error, "__notes__", ()):
                suggestion.add_note(error_note)
            raise suggestion from error
        for hint_line in _advise_on_errors(session, [error]):
            error.add_note(hint_line)
        raise
    except BaseException as error:
        exit_code = exit_codes.exit_code_of_error(error)
        raise
    finally:
        session.close()
        if session.sent_changes.first_exchanges:
            _append_to_audit(
                session, [command_entry.name, *command_args], parsed_line.arguments, result, exit_code
            )
    return exit_code


def _require_consent(session: Session, command_entry: CommandEntry) -> None:
    if command_entry.kind in ("change", "delete"):
        session.require_writable(command_entry.typed_name)
    if command_entry.kind == "delete":
        session.require_yes(command_entry.typed_name)


def _require_known_columns(command_function: Any, selection: output.RowSelection) -> None:
    """Raise UsageError for an unknown column before any request is sent."""
    columns = getattr(command_function, "columns", ())
    if columns and selection != output.RowSelection():
        from nsadmin.output.row_selection import select_rows

        try:
            select_rows(ResultRows(columns, []), selection)
        except output.InvalidSelectionError as error:
            raise UsageError(str(error)) from None


def _suggest_names(session: Session, bound_command: "partial[Any]", exit_code: int) -> list[str]:
    """A line for each typed name that servers do not know and that is similar to a known one."""
    if session.options.quiet or exit_code != ExitCode.NOT_FOUND:
        return []
    from nsadmin.command_line.server_name_suggestions import suggest_names

    with session.open_brief_client() as admin:
        return suggest_names(
            bound_command.func,
            bound_command.keywords,
            admin,
            ask_name_servers=bool(session.namesrv_addrs),
        )


def _advise_on_errors(session: Session, errors: Sequence[RocketMQError | None]) -> list[str]:
    if session.options.quiet or not any(errors):
        return []
    from nsadmin.advice import advise_on_errors

    return advise_on_errors(errors)


def _append_to_audit(
    session: Session,
    command_words: list[str],
    argument_values: Mapping[str, Any],
    result: Any,
    exit_code: int,
) -> None:
    # Imported late: only changes are recorded.
    from nsadmin import audit

    rows = result if isinstance(result, ResultRows) else None
    audit.append_audit_record(
        audit.build_audit_record(session, command_words, argument_values, rows, exit_code)
    )
