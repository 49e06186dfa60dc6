"""Owns parsing with Typer: help, mistakes, and every line that the fast parser rejects.

It is the only module that imports Typer.
"""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from nsadmin.command_line.declarations import HELP_PARAMETER, NO_DEFAULT, Argument, HelpRequested, Parameter
from nsadmin.command_line.docstrings import strip_examples
from nsadmin.command_line.fast_parser import ParameterValues
from nsadmin.exit_codes import EXIT_CODE_MEANINGS, UsageError

# Typer exports only BadParameter of the errors that parsing raises; its base class covers them all.
_ClickUsageError: Any = typer.BadParameter.__base__

_POSITIONAL_NAME = "words_"


def parse_with_typer(
    command_name: str,
    docstring: str,
    usage_text: str,
    parameters: Sequence[Parameter],
    raw_args: Sequence[str],
    exit_codes: Sequence[tuple[int, str]] = EXIT_CODE_MEANINGS,
) -> ParameterValues:
    """Parse the line with Typer.

    `usage_text` names the positional arguments, "" if there are none. The help text ends with `exit_codes`.

    Raises:
        UsageError: The line is wrong.
        HelpRequested: The line asks for help.
    """
    click_command = _build_click_command(command_name, docstring, usage_text, parameters, exit_codes)
    try:
        parsed_values = click_command.main(list(raw_args), f"nsadmin {command_name}", standalone_mode=False)
    except _ClickUsageError as error:
        raise UsageError(
            f"{command_name}: {error.format_message()} (see: nsadmin {command_name} --help)"
        ) from error
    return ParameterValues(
        {parameter.name: parsed_values[parameter.name] for parameter in parameters},
        list(parsed_values.get(_POSITIONAL_NAME) or ()),
    )


def _build_click_command(
    command_name: str,
    docstring: str,
    usage_text: str,
    parameters: Sequence[Parameter],
    exit_codes: Sequence[tuple[int, str]],
) -> Any:
    """Build a Typer command that only returns the parsed values."""
    signature_parameters = [_to_typer_parameter(parameter) for parameter in parameters]
    if usage_text:
        positional_annotation = Annotated[
            list[str] | None, typer.Argument(metavar=usage_text, show_default=False)
        ]
        signature_parameters.append(_keyword_parameter(_POSITIONAL_NAME, positional_annotation, None))
    signature_parameters.append(
        _keyword_parameter(HELP_PARAMETER.name, Annotated[bool, _help_option()], False)
    )

    def return_values(**given_values: Any) -> dict[str, Any]:
        return given_values

    return_values.__signature__ = inspect.Signature(signature_parameters)  # type: ignore[attr-defined]
    return_values.__annotations__ = {
        parameter.name: parameter.annotation for parameter in signature_parameters
    }
    typer_app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    typer_app.command(
        command_name,
        help=strip_examples(docstring),
        epilog=_exit_code_epilog(exit_codes),
        context_settings={"help_option_names": [], "max_content_width": 100},
    )(return_values)
    return get_command(typer_app)


def _to_typer_parameter(parameter: Parameter) -> inspect.Parameter:
    """The same parameter, declared with Typer's option instead of ours."""
    declaration = parameter.declaration
    typer_option = typer.Option(
        *declaration.flags,
        metavar=declaration.metavar,
        help=declaration.help,
        show_default=not isinstance(declaration, Argument),
        min=None if isinstance(declaration, Argument) else declaration.minimum,
    )
    return _keyword_parameter(
        parameter.name, Annotated[parameter.value_type, typer_option], parameter.default
    )


def _keyword_parameter(parameter_name: str, annotation: Any, default: Any) -> inspect.Parameter:
    signature_default = inspect.Parameter.empty if default is NO_DEFAULT else default
    return inspect.Parameter(
        parameter_name, inspect.Parameter.KEYWORD_ONLY, default=signature_default, annotation=annotation
    )


def _help_option() -> Any:
    flags, help_text = HELP_PARAMETER.declaration.flags, HELP_PARAMETER.declaration.help
    return typer.Option(*flags, is_eager=True, callback=_show_help, help=help_text)


def _show_help(click_context: typer.Context, is_given: bool) -> None:
    if is_given:
        raise HelpRequested(click_context.get_help())


def _exit_code_epilog(exit_codes: Sequence[tuple[int, str]]) -> str:
    return "Exit codes: " + ", ".join(f"{exit_code:d} {meaning}" for exit_code, meaning in exit_codes) + "."
