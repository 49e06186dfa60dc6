"""main: finds the command, has its line parsed, runs it, writes what it returns."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin import __version__, diagnostics, output, registry
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.diagnostics import BadCheck, ExitCode, Interrupted, UsageError
from nsadmin.likeness import like, meant
from nsadmin.output import Rows
from nsadmin.registry import Entry
from nsadmin.session import Session

if TYPE_CHECKING:
    from nsadmin.command_line.parser import ParsedCommandLine

_OVERVIEW = """\
Usage: nsadmin [OPTIONS] COMMAND [ARGUMENTS]

An operator's toolkit for Apache RocketMQ's name servers. Command names may be written
in any case, and with - or _ between their words.

{commands}

Options, before or after the command:
  -n, --namesrvAddr LIST   name servers, as HOST:PORT;HOST:PORT; repeatable
  --context NAME           a cluster of contextList, instead of -n
  --configFile FILE        instead: a properties file that names them
  --endpoint URL           instead: HTTP tells them, as it tells Java's clients
  --addressMap FROM=TO     where to reach brokers, such as 10.0.0.0/8=gateway; repeatable
  --credentials SOURCE     where those are that sign: env, file:PATH, tools:PATH, keyring:NAME, or none
  --tls                    encrypted; --tlsCa --tlsCert --tlsKey FILE, --tlsServerName NAME, --insecure
  --output FORMAT          {formats}
  --json                   short for --output json
  --watch SECONDS          of what reads: again and again, until Ctrl-C; a table in place
  --columns A,B            only these columns; --no-headers leaves their names out
  --sort A,-B              by these columns, - turns one round
  --filter CONDITION       only rows such as perm!=6 or topic~^order; repeatable
  --timeout SECONDS        for each request on each server; 3 if left out
  --retries N              ask again so often what got no answer and changes nothing; 0 if left out
  --concurrency N          servers asked at a time; 64 if left out
  --dry-run                of what changes something: only show what would be done
  -y, --yes                of what changes something: do not ask
  --quiet                  nothing on stderr but errors
  --debug                  each request on stderr: when, where, what, outcome, time, bytes; and tracebacks
  --no-color  --version  -h, --help

Of all this, what was given counts, then what the context of --context says, then the environment, then
the context in use; nsadmin where shows what came of it.

Environment:
  NAMESRV_ADDR             name servers, where no -n is given; else the context's, else 127.0.0.1:9876
  NSADMIN_ACCESS_KEY       who signs, with NSADMIN_SECRET_KEY and perhaps NSADMIN_SECURITY_TOKEN
  NSADMIN_KEY_PASSWORD     what opens the key of --tlsKey
  NSADMIN_CONTEXT          the context, where no --context is given; else that of contextUse
  NSADMIN_CONFIG           the file of contexts; else nsadmin/config.yaml in ~/.config
  NSADMIN_OUTPUT           the format, where no --output is given; else table
  NSADMIN_STATE            where drains are kept; else nsadmin/ in ~/.local/state
  NSADMIN_AUDIT            where changes are noted down, or off; else nsadmin/audit.jsonl in ~/.local/state
  XDG_CACHE_HOME           where nsadmin/ keeps what endpoints said last; else ~/.cache
  NO_COLOR                 no colours

Exit codes:
{exit_codes}

More on one: nsadmin COMMAND --help, or nsadmin help COMMAND
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    # Whoever has closed these wants to hear nothing.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    try:
        _require_text(args)
        return int(_run(args))
    except (Exception, KeyboardInterrupt) as error:
        return diagnostics.explain(error, "--debug" in args)


def _require_text(args: Iterable[str]) -> None:
    """What is no text in this locale would reach servers as question marks."""
    for text in args:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{text!r} is no UTF-8: names and values have to be") from None


class _Batch(NamedTuple):
    """What the lines of a batch have of it: its shared options, its connections."""

    shared: Mapping[str, Any]
    pool: Pool


def _line(batch: _Batch, words: list[str]) -> int:
    """One command line of a batch; its exit code. Ctrl-C, or a reader who left, ends the batch."""
    try:
        return int(_run(words, batch))
    except (KeyboardInterrupt, Interrupted, BrokenPipeError):
        raise
    except Exception as error:
        return diagnostics.explain(error, batch.shared["debug"] or "--debug" in words)


def _run(args: list[str], batch: _Batch | None = None) -> int:
    diagnostics.label(None)
    front, rest = _split(args)
    if "-h" in front or "--help" in front or rest == ["help"]:
        output.write_text(overview())
        return ExitCode.DONE
    if "--version" in front:
        output.write_text(f"nsadmin {__version__}")
        return ExitCode.DONE
    if not rest:
        raise UsageError("a command is missing; nsadmin --help lists them")
    if rest[0] == "help":
        rest = [rest[1], "--help"]
    entry, behind = registry.take(rest)
    if entry is None:
        if rest[0].lower() == "check" and {"-h", "--help"}.intersection(rest[1:2]):
            output.write_text(_checks())
            return ExitCode.DONE
        raise _no_command(rest)
    if batch and entry.kind in ("batch", "screen", "program"):
        raise UsageError(f"{entry.name} has no place in a batch")
    function = getattr(import_module(f"nsadmin.commands.{entry.module}"), entry.function)
    if entry.kind == "program":
        return _run_program(entry, function, front + behind)
    if entry.kind == "check":
        return _run_check(entry, function, front + behind, batch)
    return _parse_and_perform(entry, function, front + behind, batch)


def _checks() -> str:
    """The text of `nsadmin check --help`."""
    entries = zip(registry.checks(), registry.named_checks(), strict=True)
    lines = [f"  {name:<18}{entry.help}" for name, entry in entries]
    codes = [f"  {code:d}  {meaning}" for code, meaning in diagnostics.PLUGIN_CODES]
    head, end = "Usage: nsadmin check CHECK [OPTIONS]", "More on one: nsadmin check CHECK --help"
    return "\n".join((head, "", "Checks, for monitoring:", *lines, "", "Exit codes:", *codes, "", end))


def _no_command(words: list[str]) -> UsageError:
    if words[0].lower() == "check":
        named = words[1:2] and not words[1].startswith("-")
        what = f"no check {words[1]!r}: there are" if named else "check what? There are"
        return BadCheck(f"{what} {', '.join(registry.checks())}")
    near = registry.nearest(words[0])
    hint = meant(near) if near else "nsadmin --help lists all"
    return UsageError(f"no command {words[0]!r}: {hint}")


def _run_check(entry: Entry, function: Any, args: list[str], batch: _Batch | None) -> int:
    """A check's exit code: its own, and UNKNOWN where it came to nothing."""
    try:
        return _parse_and_perform(entry, function, args, batch)
    except (BrokenPipeError, Interrupted):
        raise
    except Exception as error:
        diagnostics.explain(error, "--debug" in args)
        return diagnostics.UNKNOWN


def _run_program(entry: Entry, function: Any, argv: list[str]) -> int:
    try:
        return int(function(argv))
    except SystemExit as end:
        if end.code == ExitCode.DONE and {"-h", "--help"}.intersection(argv):
            from nsadmin.command_line.docstrings import format_help_sections

            output.write_text("\n" + format_help_sections(entry, function))
        return end.code if isinstance(end.code, int) else ExitCode.FAILED


def _split(args: list[str]) -> tuple[list[str], list[str]]:
    """The options before the command, of those that commands share, and the rest from the command on."""
    if not args or args[0][:1] != "-" or args[0] in ("-h", "--help", "--version"):
        # Not even the options that commands share are needed.
        at = int(bool(args) and args[0].startswith("-"))
        return args[:at], args[at:]
    from nsadmin.command_line.fast_parser import find_options_end, flag_names
    from nsadmin.command_line.parser import leading_parameters

    shared = leading_parameters()
    at = find_options_end(shared, args)
    if args[at : at + 1] and args[at].startswith("-"):
        near = like(args[at].partition("=")[0], flag_names(shared), 0.8)
        hint = f": {meant(near)}" if near else "; options of a command stand behind it, see: nsadmin --help"
        raise UsageError(f"no option {args[at]}{hint}")
    return args[:at], args[at:]


def _parse_and_perform(entry: Entry, function: Any, args: list[str], batch: _Batch | None) -> int:
    # Neither the overview nor a program needs these.
    from nsadmin.command_line import parser
    from nsadmin.command_line.declarations import HelpRequested

    try:
        parsed = parser.parse_command_line(entry, function, args, batch and batch.shared)
    except HelpRequested as text:
        from nsadmin.command_line.docstrings import format_help_sections

        output.write_text(
            "\n\n".join(filter(None, (str(text).rstrip(), format_help_sections(entry, function))))
        )
        return ExitCode.DONE
    if entry.kind == "batch":
        return _perform_batch(function, parsed)
    return _perform(entry, function, args, parsed, batch)


def _perform_batch(function: Any, parsed: "ParsedCommandLine") -> int:
    """Its lines, one after the other; connections stay open between them."""
    pool = Pool()
    session = Session(parsed.options, perform=partial(_line, _Batch(parsed.shared_values, pool)))
    try:
        return int(function(session, **parsed.arguments))
    finally:
        pool.close()


def _perform(
    entry: Entry, function: Any, args: list[str], parsed: "ParsedCommandLine", batch: _Batch | None
) -> int:
    options = parsed.options
    diagnostics.label(options.context, options.color if options.style.color else None)
    session = Session(options, may_change=entry.may_change, pool=batch and batch.pool)
    session.said = parsed.shared_values
    session.form = _form(entry, parsed)
    once = partial(function, session, **parsed.arguments)
    result: Any = None
    code: int = ExitCode.FAILED
    try:
        _require_consent(session, entry)
        _require_selection(function, options.style.selection)
        watch = parsed.options.watch
        result = once() if watch is None else _watched(session, watch, once)
        code = _deliver(session, result, batch is None)
        if not code and not session.is_complete and entry.kind != "check":
            code = ExitCode.PARTLY
        if isinstance(result, Rows):
            for line in _hints(session, once, code, result.errors):
                session.remark(line)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
        raise Interrupted(session.story_of_interruption()) from None
    except output.Unwritable as error:
        if session.changes.exchanges:
            error.add_note(session.changes.story())
        raise
    except RocketMQError as error:
        code = diagnostics.code_of(error)
        for line in _hints(session, once, code, [error]):
            error.add_note(line)
        raise
    except BaseException as error:
        code = diagnostics.code_of(error)
        raise
    finally:
        session.close()
        if session.changes.exchanges:
            _keep(session, [entry.name, *args], parsed.arguments, result, code)
    return code


def _form(entry: Entry, parsed: "ParsedCommandLine") -> Callable[[Rows | str], str] | None:
    """How --output mqadmin writes what the command returns; None for all other formats."""
    style = parsed.options.style
    if style.format != "mqadmin" or entry.kind == "check":
        return None
    from nsadmin.commands.mqadmin.output_forms import OUTPUT_FORMS

    if entry.name not in OUTPUT_FORMS:
        raise UsageError(
            f"{entry.name} has no output of mqadmin's; there is one of: {', '.join(OUTPUT_FORMS)}"
        )
    if style.selection != output.Selection() or not style.headers:
        raise UsageError(
            "--output mqadmin is all or nothing: leave out --columns, --sort, --filter, --no-headers"
        )
    if parsed.options.dry_run:
        raise UsageError("--output mqadmin says that something was done: leave it out of a dry run")
    form, arguments = OUTPUT_FORMS[entry.name], parsed.arguments
    return lambda found: form(found, arguments)


def _require_consent(session: Session, entry: Entry) -> None:
    if entry.kind in ("change", "delete"):
        session.require_writable(entry.name)
    if entry.kind == "delete":
        session.require_yes(entry.name)


def _require_selection(function: Any, selection: output.Selection) -> None:
    """What its rows are to be cut to is looked at before anything is asked or changed."""
    columns = getattr(function, "columns", ())
    if columns and selection != output.Selection():
        from nsadmin.output.select import select

        try:
            select(Rows(columns, []), selection)
        except output.BadSelection as error:
            raise UsageError(str(error)) from None


def _hints(
    session: Session, command: "partial[Any]", code: int, errors: Sequence[RocketMQError | None]
) -> list[str]:
    """What may have been meant, else what can be done; nobody is asked about it where all went well."""
    if session.options.quiet or not any(errors):
        return []
    from nsadmin.advice import advice

    lines: list[str] = []
    if code == ExitCode.NOT_FOUND:
        from nsadmin.command_line.name_suggestions import suggest_names

        with session.bystander() as admin:
            lines = suggest_names(
                command.func, command.keywords, admin, ask_name_servers=bool(session.name_servers)
            )
    return lines or advice(errors)


def _keep(session: Session, words: list[str], arguments: Mapping[str, Any], result: Any, code: int) -> None:
    # Only what has changed something needs it.
    from nsadmin import audit

    rows = result if isinstance(result, Rows) else None
    audit.keep(audit.record(session, words, arguments, rows, code))


def _watched(session: Session, seconds: float, once: Callable[[], Any]) -> Iterator[Rows | str]:
    for number, result in enumerate(session.repeat(seconds, once)):
        if not isinstance(result, (Rows, str)):
            raise UsageError("--watch: this goes on by itself")
        if number:
            output.start_over(session.options.style)
        yield result


def _deliver(session: Session, result: Rows | str | Iterator[Rows | str], may_be_left: bool) -> int:
    """Write what a command returned: rows, text, or such again and again, perhaps until Ctrl-C.

    The last of many decides the exit code.
    """
    if isinstance(result, (Rows, str)):
        return _write(session, result)
    code: int = ExitCode.DONE
    try:
        for one in result:
            code = _write(session, one)
    except KeyboardInterrupt:
        if not may_be_left:
            raise
        return ExitCode.DONE
    return code


def _write(session: Session, rows: Rows | str) -> int:
    if isinstance(rows, str):
        output.write_text(rows if session.form is None else session.form(rows))
        if isinstance(rows, output.Verdict):
            return rows.code
        return diagnostics.exit_code(rows.errors) if isinstance(rows, output.Text) else ExitCode.DONE
    try:
        if session.form is None:
            output.write_rows(rows, session.options.style)
        else:
            output.write_text(session.form(rows))
    except output.BadSelection as error:
        raise UsageError(str(error)) from None
    failures = sum(error is not None for error in rows.errors)
    for note in rows.notes:
        (diagnostics.say if failures else session.remark)(note)
    if failures and not rows.notes:
        diagnostics.say(f"failed on {failures} of {len(rows.errors)} servers")
    return diagnostics.exit_code(rows.errors)


def overview() -> str:
    """The text of `nsadmin --help`; it imports no command."""
    groups: dict[str, list[Entry]] = {}
    for entry in registry.COMMANDS:
        groups.setdefault(entry.group, []).append(entry)
    commands = "\n\n".join(
        "\n".join([f"{group}:", *(f"  {entry.name:<22} {entry.help}" for entry in entries)])
        for group, entries in groups.items()
    )
    codes = "\n".join(f"  {code:d}  {meaning}" for code, meaning in diagnostics.EXIT_CODES)
    return _OVERVIEW.format(commands=commands, exit_codes=codes, formats=", ".join(output.FORMATS))
