"""The usage of a command, and the words for mistakes in a command line: one text for each mistake."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from namesrv_core.protocol.message_ids import parse_message_id
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.registry import CommandEntry
from nsadmin.console.exit_codes import CheckUsageError, UsageError

ParsingError: Any = typer.BadParameter.__base__
"""The base of the errors that Typer raises while it parses; Typer exports only BadParameter."""

_QUOTED_VALUE = re.compile(r"'?(.*?)'? is not ")
_NEGATIVE_NUMBER = re.compile(r"-\d")
_TIME_AGO = re.compile(r"-\d+(ms|[smhdw])")
_EXPECTED_BY_METAVAR = {
    "SECONDS": "seconds, for example 3 or 0.5",
    "MS": "milliseconds, for example 3000",
    "BYTES": "a number of bytes, for example 1048576",
    "N": "a whole number, for example 10",
}


def format_usage(entry: CommandEntry, own_parameters: Sequence[Parameter]) -> str:
    """Return the usage without options that can be left out: `nsadmin kv get NAMESPACE KEY`."""
    return " ".join(filter(None, ("nsadmin", entry.typed_name, usage_words(own_parameters))))


def usage_words(own_parameters: Sequence[Parameter]) -> str:
    """Return the words after the command's name: `TOPIC [CONF]`, `GROUP TOPIC (-s TIME | -o OFFSET)`."""
    return " ".join(_iter_usage_words(own_parameters))


def _iter_usage_words(own_parameters: Sequence[Parameter]) -> Iterator[str]:
    by_name = {parameter.name: parameter for parameter in own_parameters}
    alternatives = {
        parameter.name: parameter.alternative_names
        for parameter in own_parameters
        if by_name.keys() >= set(parameter.alternative_names) > set()
    }
    replacing_names = {name for names in alternatives.values() for name in names}
    for parameter in own_parameters:
        if parameter.name in alternatives:
            others = [by_name[name] for name in alternatives[parameter.name]]
            yield f"({' | '.join(map(describe_alternative, (parameter, *others)))})"
        elif parameter.name in replacing_names:
            continue
        elif parameter.position is not None:
            yield parameter.metavar or "" if parameter.is_required else f"[{parameter.metavar}]"
        elif parameter.is_required:
            yield describe_alternative(parameter)


def describe_alternative(parameter: Parameter) -> str:
    """Return the way to give a value: `-s TIME`, or the metavar of a positional argument."""
    if parameter.position is not None:
        return parameter.metavar or ""
    return " ".join(filter(None, (parameter.flag_names[0], parameter.metavar)))


_FLAGS_BY_MEANING = {
    "--port": ("--http",),
    "--listen": ("--bind", "--http"),
    "--except": ("--skip", "--exclude"),
    "--exclude": ("--skip",),
    "--ignore": ("--skip", "--exclude"),
    "--only": ("--include", "--reports", "--topic --groupName --section", "--section"),
    "--to": ("--out", "--until"),
    "--file": ("--out",),
    "--dir": ("--path",),
    "--start": ("--from",),
    "--begin": ("--from",),
    "--end": ("--until",),
    "--count": ("--limit",),
    "--max": ("--limit",),
    "--num": ("--limit",),
    "--top": ("--limit",),
    "--fields": ("--columns",),
    "--refresh": ("--watch",),
    "--grep": ("--body", "--filter"),
    "--search": ("--body", "--filter"),
    "--format": ("--output",),
    "--ca": ("--tlsCa",),
    "--cert": ("--tlsCert",),
    "--cacert": ("--tlsCa",),
}
"""Options of other tools, with what commands here have instead: the first ones that the command has."""


_OTHER_ADVICE = {
    "--out": "write to a file with > FILE",
    "--all-contexts": "repeat the command with --context NAME, for each NAME of nsadmin context list",
    "--from-cluster": "omit it: messages and offsets come from all clusters of the source",
}


def unknown_option(
    flag: str,
    known_flags: Sequence[str],
    advice: str,
    column_names: Sequence[str] = (),
    missing_flags: Sequence[str] = (),
) -> UsageError:
    """An option that does not exist: what means the same or is spelled similarly, else the advice.

    If required options are missing, `missing_flags`, only one of them can be meant.
    """
    # Every short option is similar to every other one.
    word = flag[2:] if flag.startswith("--") and len(flag) > 3 else ""
    meant_flags = next(
        (f.split() for f in _FLAGS_BY_MEANING.get(flag, ()) if set(f.split()) <= {*known_flags}), None
    )
    # A slip of the finger rarely hits the first letter: --sort is not meant by --port.
    candidates = missing_flags or (*known_flags, "--help")
    words = [f[2:] for f in candidates if f.lower().startswith(f"--{word[:1].lower()}")]
    near_flags = [f"--{near}" for near in find_similar_names(word, words, 0.65, max_names=1)]
    column_name = next((c for c in column_names if c.lower() in (word.lower(), f"{word.lower()}s")), None)
    if meant_flags:
        advice = f"use {' or '.join(meant_flags)}"
    elif flag in _OTHER_ADVICE:
        advice = _OTHER_ADVICE[flag]
    elif word and column_name and "--filter" in known_flags:
        advice = f"use --filter {column_name}{'=' if len(column_name) == len(word) else '~'}VALUE"
    elif word and near_flags:
        advice = did_you_mean(near_flags)
    return UsageError(f'unknown option "{flag}": {advice}')


def unexpected_value(word: str, flag: str) -> UsageError:
    """A word after a flag that takes no value."""
    return UsageError(f'unexpected argument "{word}": {flag} takes no value: write {flag} alone')


def unexpected_argument(word: str, usage: str, takes_arguments: bool = True) -> UsageError:
    hint = f"usage: {usage}" if takes_arguments else f"it takes only options, see {usage} --help"
    return UsageError(f'unexpected argument "{word}": {hint}')


def missing_argument(
    parameter: Parameter,
    usage: str,
    topic: str | None = None,
    words: Sequence[str] = (),
    parameters: Sequence[Parameter] = (),
) -> UsageError:
    """An argument is missing. If the `topic` is an id of a message, the topic is missing."""
    if parameter.metavar == "MSGID" and topic and parse_message_id(topic.partition(",")[0]):
        return UsageError(f"missing argument TOPIC: usage: {usage.replace('MSGID', topic)}")
    if parameter.value_source and "|" in parameter.value_source:
        names = parameter.value_source.replace("|", ", ")
        return UsageError(f"missing argument {parameter.metavar}: use one of {names}")
    example_hint = f", for example {parameter.example}" if parameter.example else ""
    note = _explain_flags([parameter], words, parameters)
    return UsageError(f"missing argument {parameter.metavar}{example_hint}{note}: usage: {usage}")


def missing_option(*alternatives: str, usage: str) -> UsageError:
    """A required option with its value is missing, or each of its alternatives. One can be an argument."""
    noun = "option " if all(alternative.startswith("-") for alternative in alternatives) else ""
    return UsageError(f"missing {noun}{' or '.join(alternatives)}: usage: {usage}")


def require_broker_names(value: str | Sequence[str] | None, command_name: str) -> None:
    """Refuse a replica, such as broker-a:1, where a command takes the name of a broker."""
    # Imported late: it loads the client.
    from nsadmin.client.brokers.targets import split_process

    for text in [value] if isinstance(value, str) else value or ():
        if process := split_process(text):
            raise UsageError(
                f'"{text}" is one replica: {command_name} takes the name of a broker: use {process[0]}'
            )


def invalid_value(value_text: str, parameter: Parameter, limit: str = "") -> UsageError:
    expected = f"{_expected_value(parameter)}{limit}"
    return UsageError(f'invalid value "{value_text}" for {parameter.flags[0]}: expected {expected}')


def describe_parsing_error(
    error: Any,
    words: Sequence[str],
    usage: str,
    parameters: Sequence[Parameter],
    advice: str,
    column_names: Sequence[str] = (),
) -> UsageError:
    """The mistake in our words. The classes of these errors are private to Typer, so their names tell."""
    error_name = type(error).__name__
    if error_name == "NoSuchOption" and _NEGATIVE_NUMBER.match(error.option_name):
        return _unexpected_number(
            next(w for w in words if w.startswith(error.option_name)), usage, parameters
        )
    if error_name == "NoSuchOption":
        known_flags = [flag for parameter in parameters for flag in parameter.flag_names]
        missing_flags = list(_list_missing_flags(words, parameters))
        advice = f"usage: {usage}" if missing_flags else advice
        return unknown_option(error.option_name, known_flags, advice, column_names, missing_flags)
    if error_name == "BadOptionUsage":
        flag = error.option_name
        parameter = _find_parameter(parameters, [flag])
        if parameter is None or parameter.is_flag:
            return UsageError(f"{flag} takes no value: write {flag} alone")
        return UsageError(f"missing value for {flag}: write {flag} {parameter.metavar or 'VALUE'}")
    parameter = _find_parameter(parameters, getattr(getattr(error, "param", None), "opts", ()))
    if parameter is None:
        return UsageError(f"{error.format_message()}: usage: {usage}")
    if error_name == "MissingParameter":
        return _missing_parameters(
            list(_list_missing(words, parameters)) or [parameter], words, usage, parameters
        )
    value_match = _QUOTED_VALUE.match(error.message)
    return invalid_value(value_match[1] if value_match else "", parameter)


def _missing_parameters(
    missing: Sequence[Parameter], words: Sequence[str], usage: str, parameters: Sequence[Parameter]
) -> UsageError:
    """Required options are missing, and perhaps arguments."""
    *names, last = map(describe_alternative, missing)
    noun = "option " if all(parameter.position is None for parameter in missing) else ""
    texts = f"{', '.join(names)} and {last}" if names else last
    return UsageError(f"missing {noun}{texts}{_explain_flags(missing, words, parameters)}: usage: {usage}")


def _explain_flags(
    missing: Iterable[Parameter], words: Iterable[str], parameters: Iterable[Parameter]
) -> str:
    """With mqadmin, -n of some commands is the name of the broker; of others, -b is not the broker."""
    broker = next((parameter for parameter in missing if parameter.metavar == "BROKER"), None)
    if broker is None:
        return ""
    if "-n" in words:
        return " (-n chooses name servers)"
    other = next((p for p in parameters if "-b" in p.flag_names and p.metavar != "BROKER"), None)
    if other is None or "-b" not in words:
        return ""
    return f" ({broker.flag_names[0]} is BROKER; -b is {other.metavar}: {other.help.rstrip('.')})"


def _list_missing(words: Sequence[str], parameters: Sequence[Parameter]) -> Iterator[Parameter]:
    """The required options and arguments that the words do not have."""
    typed_flags, free_count, rest = set[str](), 0, iter(words)
    for word in rest:
        flag, _, value = word.partition("=")
        parameter = _find_parameter(parameters, [flag])
        if parameter is None:
            free_count += 1
            continue
        typed_flags.update(parameter.flag_names)
        if not parameter.is_flag and not value:
            next(rest, None)
    untyped = [parameter for parameter in parameters if typed_flags.isdisjoint(parameter.flag_names)]
    yield from (p for p in untyped if p.is_required and p.position is None)
    yield from (p for p in [p for p in untyped if p.position is not None][free_count:] if p.is_required)


def _list_missing_flags(words: Sequence[str], parameters: Sequence[Parameter]) -> Iterator[str]:
    """The flags of required options that the words do not have."""
    typed_flags = {word.partition("=")[0] for word in words}
    for parameter in parameters:
        if parameter.is_required and parameter.position is None:
            flags = {
                f
                for p in parameters
                if p.name in (parameter.name, *parameter.alternative_names)
                for f in p.flag_names
            }
            if typed_flags.isdisjoint(flags):
                yield from sorted(flags)


def _unexpected_number(word: str, usage: str, parameters: Sequence[Parameter]) -> UsageError:
    """A word such as -1h or -5, which no option takes as its value."""
    time_option = next((p for p in parameters if p.metavar == "TIME"), None)
    if time_option is None or not _TIME_AGO.fullmatch(word):
        return unexpected_argument(word, usage)
    return UsageError(f'"{word}" needs an option before it: write {time_option.flags[0]} {word}')


def _find_parameter(parameters: Sequence[Parameter], flags: Sequence[str]) -> Parameter | None:
    return next((parameter for parameter in parameters if set(flags) & set(parameter.flag_names)), None)


def _expected_value(parameter: Parameter) -> str:
    if parameter.minimum is not None:
        return f"a whole number of at least {parameter.minimum}"
    is_whole = parameter.value_type in (int, int | None)
    default_text = "a whole number, for example 10" if is_whole else "a number"
    return _EXPECTED_BY_METAVAR.get(parameter.metavar or "", default_text)


# Words that name no command.


def unknown_command_error(command_words: Sequence[str]) -> UsageError:
    """Return the error, with the commands that the words probably mean."""
    group_name = registry.find_group(command_words[0])
    if group_name is not None:
        error_type = CheckUsageError if group_name == "check" else UsageError
        return error_type(_describe_unknown_member(group_name, command_words[1]))
    suggested_names = registry.suggest_commands(command_words)
    search = f"nsadmin help {' '.join(command_words[:1])} searches"
    hint = did_you_mean(suggested_names) if suggested_names else f"{search} commands and guides"
    return UsageError(f'unknown command "{command_words[0]}": {hint}')


def _describe_unknown_member(group_name: str, member_word: str) -> str:
    member_names = registry.list_group_words(group_name)
    if member_word.startswith("-"):
        return f'missing command after "{group_name}": use {", ".join(member_names)}'
    suggested_names = registry.suggest_members(group_name, member_word)
    if suggested_names:
        hint = did_you_mean(suggested_names)
    else:
        search = f"nsadmin help {group_name} {member_word} searches commands and guides"
        hint = f"use {', '.join(member_names)}; {search}"
    return f'unknown command "{group_name} {member_word}": {hint}'
