"""Writes the usage of a command: its name, its required and optional arguments, and alternatives."""

from collections.abc import Iterator, Sequence

from nsadmin.command_line.declarations import NO_DEFAULT, Argument, Parameter
from nsadmin.registry import CommandEntry


def format_usage(entry: CommandEntry, own_parameters: Sequence[Parameter]) -> str:
    """Return the usage without options that can be left out: `nsadmin kv get NAMESPACE KEY`."""
    return " ".join(filter(None, ("nsadmin", entry.typed_name, usage_words(own_parameters))))


def usage_words(own_parameters: Sequence[Parameter]) -> str:
    """Return the words after the command's name: `TOPIC [CONF]`, `GROUP TOPIC (-s TIME | -o OFFSET)`."""
    return " ".join(_iter_usage_words(own_parameters))


def _iter_usage_words(own_parameters: Sequence[Parameter]) -> Iterator[str]:
    parameters_by_name = {parameter.name: parameter for parameter in own_parameters}
    alternatives = {
        parameter.name: parameter.alternative_names
        for parameter in own_parameters
        if parameters_by_name.keys() >= set(parameter.alternative_names) > set()
    }
    replacing_names = {name for names in alternatives.values() for name in names}
    for parameter in own_parameters:
        declaration = parameter.declaration
        if parameter.name in alternatives:
            other_parameters = [parameters_by_name[other_name] for other_name in alternatives[parameter.name]]
            yield f"({' | '.join(map(describe_alternative, (parameter, *other_parameters)))})"
        elif parameter.name in replacing_names:
            continue
        elif isinstance(declaration, Argument):
            yield declaration.metavar if declaration.required else f"[{declaration.metavar}]"
        elif parameter.default is NO_DEFAULT:
            yield describe_alternative(parameter)


def describe_alternative(parameter: Parameter) -> str:
    """Return the way to give a value: `-s TIME`, or the metavar of a positional argument."""
    declaration = parameter.declaration
    if isinstance(declaration, Argument):
        return declaration.metavar
    flag_name = declaration.flags[0].partition("/")[0]
    return f"{flag_name} {declaration.metavar}" if declaration.metavar else flag_name
