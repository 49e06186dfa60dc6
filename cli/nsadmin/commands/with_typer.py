"""Owns parsing with Typer: help, mistakes, and every line that the fast parser rejects.

It is the only module that imports Typer.
"""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from nsadmin.commands.declared import HELP, REQUIRED, Help, Parameter, Word
from nsadmin.commands.documented import description
from nsadmin.commands.plain import Line
from nsadmin.diagnostics import EXIT_CODES, UsageError

# Typer exports only BadParameter of the errors that parsing raises; its base class covers them all.
_Mistake: Any = typer.BadParameter.__base__

_POSITIONAL = "words_"


def parse(
    name: str,
    doc: str,
    usage: str,
    parameters: Sequence[Parameter],
    args: Sequence[str],
    codes: Sequence[tuple[int, str]] = EXIT_CODES,
) -> Line:
    """Parse the line with Typer.

    `usage_text` names the positional arguments, "" if there are none. The help text ends with `exit_codes`.

    Raises:
        UsageError: The line is wrong.
        HelpRequested: The line asks for help.
    """
    command = _command(name, doc, usage, parameters, codes)
    try:
        values = command.main(list(args), f"nsadmin {name}", standalone_mode=False)
    except _Mistake as error:
        raise UsageError(f"{name}: {error.format_message()} (see: nsadmin {name} --help)") from error
    return Line({item.name: values[item.name] for item in parameters}, list(values.get(_POSITIONAL) or ()))


def _command(
    name: str, doc: str, usage: str, parameters: Sequence[Parameter], codes: Sequence[tuple[int, str]]
) -> Any:
    """Build a Typer command that only returns the parsed values."""
    signature = [_as_typer(item) for item in parameters]
    if usage:
        many = Annotated[list[str] | None, typer.Argument(metavar=usage, show_default=False)]
        signature.append(_keyword(_POSITIONAL, many, None))
    signature.append(_keyword(HELP.name, Annotated[bool, _help_option()], False))

    def values(**given: Any) -> dict[str, Any]:
        return given

    values.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    values.__annotations__ = {item.name: item.annotation for item in signature}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(
        name,
        help=description(doc),
        epilog=_epilog(codes),
        context_settings={"help_option_names": [], "max_content_width": 100},
    )(values)
    return get_command(app)


def _as_typer(item: Parameter) -> inspect.Parameter:
    """The same parameter, declared with Typer's option instead of ours."""
    declared = item.declared
    option = typer.Option(
        *declared.flags,
        metavar=declared.metavar,
        help=declared.help,
        show_default=not isinstance(declared, Word),
        min=None if isinstance(declared, Word) else declared.minimum,
    )
    return _keyword(item.name, Annotated[item.type, option], item.default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is REQUIRED else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=annotation)


def _help_option() -> Any:
    flags, text = HELP.declared.flags, HELP.declared.help
    return typer.Option(*flags, is_eager=True, callback=_show_help, help=text)


def _show_help(context: typer.Context, value: bool) -> None:
    if value:
        raise Help(context.get_help())


def _epilog(codes: Sequence[tuple[int, str]]) -> str:
    return "Exit codes: " + ", ".join(f"{code:d} {meaning}" for code, meaning in codes) + "."
