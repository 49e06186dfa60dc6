"""Owns parsing with Typer: mistakes, and every line that the fast parser rejects.

It is the only module that imports Typer. The texts of Typer and of Click never reach the operator.
"""

import inspect
import re
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from nsadmin.command_line import usage_errors
from nsadmin.command_line.declarations import NO_DEFAULT, Option, Parameter
from nsadmin.command_line.fast_parser import ParameterValues, flag_names
from nsadmin.command_line.usage_text import describe_alternative
from nsadmin.exit_codes import UsageError

# Typer exports only BadParameter of the errors that parsing raises; its base class covers them all.
_ClickUsageError: Any = typer.BadParameter.__base__

_POSITIONAL_NAME = "words_"
_QUOTED_VALUE = re.compile(r"'?(.*?)'? is not ")


def parse_with_typer(
    command_name: str, usage: str, parameters: Sequence[Parameter], raw_args: Sequence[str]
) -> ParameterValues:
    """Parse the line with Typer; `usage` is the command's usage for errors.

    Raises:
        UsageError: The line is wrong.
    """
    click_command = _build_click_command(command_name, parameters)
    try:
        parsed_values = click_command.main(list(raw_args), f"nsadmin {command_name}", standalone_mode=False)
    except _ClickUsageError as error:
        raise _describe_error(error, command_name, usage, parameters) from error
    return ParameterValues(
        {parameter.name: parsed_values[parameter.name] for parameter in parameters},
        list(parsed_values.get(_POSITIONAL_NAME) or ()),
    )


def _describe_error(error: Any, command_name: str, usage: str, parameters: Sequence[Parameter]) -> UsageError:
    """The same mistake in our words; Click's errors are told apart by the names of their classes."""
    error_name = type(error).__name__
    if error_name == "NoSuchOption":
        return usage_errors.unknown_option(
            error.option_name, flag_names(parameters), f"nsadmin {command_name} --help lists the options"
        )
    if error_name == "BadOptionUsage":
        flag_name = error.option_name
        parameter = _find_parameter(parameters, flag_name)
        takes_value = parameter is not None and parameter.value_type not in (bool, bool | None)
        metavar = parameter.declaration.metavar if parameter is not None and takes_value else None
        return (
            usage_errors.missing_value(flag_name, metavar)
            if takes_value
            else usage_errors.unwanted_value(flag_name)
        )
    parameter = _find_parameter(parameters, *getattr(getattr(error, "param", None), "opts", ()))
    if parameter is None:
        return UsageError(f"{error.format_message()}: usage: {usage}")
    if error_name == "MissingParameter":
        return usage_errors.missing_option(describe_alternative(parameter), usage=usage)
    value_match = _QUOTED_VALUE.match(error.message)
    return usage_errors.invalid_value(
        value_match[1] if value_match else "",
        parameter.declaration.flags[0],
        usage_errors.expected_value(parameter),
    )


def _find_parameter(parameters: Sequence[Parameter], *flag_texts: str) -> Parameter | None:
    return next(
        (parameter for parameter in parameters if set(flag_texts) & set(flag_names([parameter]))), None
    )


def _build_click_command(command_name: str, parameters: Sequence[Parameter]) -> Any:
    """Build a Typer command that only returns the parsed values."""
    signature_parameters = [_to_typer_parameter(parameter) for parameter in parameters]
    # Also for a command without arguments: our parser then names the unexpected one.
    positional_annotation = Annotated[list[str] | None, typer.Argument()]
    signature_parameters.append(_keyword_parameter(_POSITIONAL_NAME, positional_annotation, None))

    def return_values(**given_values: Any) -> dict[str, Any]:
        return given_values

    return_values.__signature__ = inspect.Signature(signature_parameters)  # type: ignore[attr-defined]
    return_values.__annotations__ = {
        parameter.name: parameter.annotation for parameter in signature_parameters
    }
    typer_app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    typer_app.command(command_name, context_settings={"help_option_names": []})(return_values)
    return get_command(typer_app)


def _to_typer_parameter(parameter: Parameter) -> inspect.Parameter:
    """The same parameter, declared with Typer's option instead of ours."""
    declaration = parameter.declaration
    typer_option = typer.Option(
        *declaration.accepted_flags, min=declaration.minimum if isinstance(declaration, Option) else None
    )
    return _keyword_parameter(
        parameter.name, Annotated[parameter.value_type, typer_option], parameter.default
    )


def _keyword_parameter(parameter_name: str, annotation: Any, default: Any) -> inspect.Parameter:
    signature_default = inspect.Parameter.empty if default is NO_DEFAULT else default
    return inspect.Parameter(
        parameter_name, inspect.Parameter.KEYWORD_ONLY, default=signature_default, annotation=annotation
    )
