"""What a command declares: its parameters, with Typer's declarations, and what Typer does not know of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from typer.models import ArgumentInfo, OptionInfo

from nsadmin.console.output import AnyColumn

F = TypeVar("F", bound=Callable[..., object])


class Flags:
    """Flags of an argument: `wipeWritePerm broker-a` and mqadmin's `wipeWritePerm -b broker-a` are the same.

    `example` is a value for the error about a missing argument. `joins_words`: as the last argument it takes
    all words that are left. `may_be_new`: the command creates what has the name.
    """

    def __init__(
        self,
        *flags: str,
        may_be_empty: bool = False,
        example: str | None = None,
        joins_words: bool = False,
        may_be_new: bool = False,
    ) -> None:
        self.flags = flags
        self.may_be_empty = may_be_empty
        self.joins_words = joins_words
        self.may_be_new = may_be_new
        self.example = example


class Values(NamedTuple):
    """What TAB offers if the metavar does not say it: a source of `completion.value_sources`."""

    source: str


EachNoun = Literal["topic", "consumer group", "broker"]


def means_several(text: str | None) -> bool:
    """Whether a text is several names: a,b or a pattern."""
    return not frozenset(",*?").isdisjoint(text or "")


class Each(NamedTuple):
    """Beside one name, the value may be several, such as a,b or 'a*': the command then runs for each.

    With `is_joined`, the command runs once and reads the names itself, with `each_name.expand_names`.
    """

    noun: EachNoun
    is_joined: bool = False


class RequiredUnless:
    """The parameters each of whose values makes this one optional."""

    def __init__(self, *parameter_names: str) -> None:
        self.parameter_names = parameter_names


REQUIRED: Any = ...
"""The default of a parameter that must be given."""


class Parameter(NamedTuple):
    """A parameter of a command, as its signature declares it.

    `flags` are as Typer takes them: "--tls/--no-tls" is a pair for true and false. A parameter with a
    `position` can also be given without a flag.
    """

    name: str
    value_type: Any
    declaration: OptionInfo | ArgumentInfo
    default: Any
    position: int | None = None
    flags: tuple[str, ...] = ()
    value_source: str | None = None
    alternative_names: tuple[str, ...] = ()
    example: str | None = None
    may_be_empty: bool = False
    joins_words: bool = False
    may_be_new: bool = False
    each: Each | None = None

    @property
    def help(self) -> str:
        several = " Several: a,b or 'a*'." if self.each else ""
        return f"{self.declaration.help or ''}{several}"

    def means_several(self, text: str | None) -> bool:
        """Whether the command runs for each of several names."""
        return self.each is not None and not self.each.is_joined and means_several(text)

    @property
    def is_flag(self) -> bool:
        return self.value_type in (bool, bool | None)

    @property
    def metavar(self) -> str | None:
        return None if self.is_flag else self.declaration.metavar

    @property
    def minimum(self) -> float | None:
        return self.declaration.min

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def is_list(self) -> bool:
        return bool(self.value_type == list[str] | None)

    @property
    def long_flag(self) -> str:
        """The flag for messages: the common one of several, such as --from."""
        return next((flag for flag in self.flag_names if flag.startswith("--")), self.flags[0])

    @property
    def flag_names(self) -> tuple[str, ...]:
        """Every flag, those for false last."""
        pairs = [flag.split("/") for flag in self.flags]
        return (*(pair[0] for pair in pairs), *(off for pair in pairs for off in pair[1:]))


def build_parameter(name: str, annotation: Any, default: Any, position: int | None = None) -> Parameter:
    """Read the parameter off its annotation: a type, Typer's declaration, and our markers."""
    markers = annotation.__metadata__
    declaration = next(item for item in markers if isinstance(item, (OptionInfo, ArgumentInfo)))
    parameter = Parameter(name, annotation.__origin__, declaration, default, flags=_typed_flags(declaration))
    if isinstance(declaration, ArgumentInfo):
        is_optional = default is REQUIRED and parameter.value_type is not str
        parameter = parameter._replace(position=position, default=None if is_optional else default)
    for marker in markers:
        if isinstance(marker, Flags):
            parameter = parameter._replace(
                flags=marker.flags,
                example=marker.example,
                may_be_empty=marker.may_be_empty,
                joins_words=marker.joins_words,
                may_be_new=marker.may_be_new,
            )
        elif isinstance(marker, Values):
            parameter = parameter._replace(value_source=marker.source)
        elif isinstance(marker, Each):
            parameter = parameter._replace(each=marker)
        elif isinstance(marker, RequiredUnless):
            parameter = parameter._replace(alternative_names=marker.parameter_names)
    return parameter


def _typed_flags(declaration: OptionInfo | ArgumentInfo) -> tuple[str, ...]:
    # Typer takes the first flag of an annotation for a default until it builds the option.
    first_flag = (declaration.default,) if isinstance(declaration.default, str) else ()
    return (*first_flag, *(declaration.param_decls or ()))


def command_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a command, or of the function that it wraps; without the session."""
    function = getattr(function, "__wrapped__", function)
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    all_defaults = [REQUIRED] * (len(names) - len(defaults)) + list(defaults)
    parameters: list[Parameter] = []
    for name, default in zip(names, all_defaults, strict=True):
        if name == "session":
            continue
        position = sum(parameter.position is not None for parameter in parameters)
        parameters.append(build_parameter(name, function.__annotations__[name], default, position))
    return _add_common_flags(parameters)


COMMON_FLAGS = {
    "--clusterName": "--cluster",
    "--brokerName": "--broker",
    "--brokerAddr": "--broker",
    "--topicName": "--topic",
    "--groupName": "--group",
    "--consumerGroup": "--group",
    "--beginTimestamp": "--from",
    "--startTime": "--from",
    "--since": "--from",
    "--endTimestamp": "--until",
    "--endTime": "--until",
    "--consumer": "--group",
    "--maxNum": "--limit",
    "--MessageNumber": "--limit",
    "--lines": "--limit",
    "--exportFile": "--out",
    "--filePath": "--out",
}
"""The flag that means the same in all commands, for each flag of mqadmin that has it in some of them."""


def _add_common_flags(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Let each parameter be given by its common flag too, unless another one has this flag."""
    taken = {flag for parameter in parameters for flag in parameter.flag_names}
    extended = []
    for parameter in parameters:
        for flag in parameter.flags:
            common_flag = COMMON_FLAGS.get(flag)
            if common_flag and common_flag not in taken:
                taken.add(common_flag)
                position = parameter.flags.index(flag)
                flags = (*parameter.flags[:position], common_flag, *parameter.flags[position:])
                parameter = parameter._replace(flags=flags)
        extended.append(parameter)
    return extended


ExamplesPlace = Literal["lab", "broker", "old broker", "controller", "elsewhere"]
UndoLines = Callable[[Sequence[Mapping[str, Any]]], Sequence[Sequence[str]]]
"""Returns the command lines that undo a change, by its rows in the audit; none if they do not tell it."""


class CommandDeclaration(NamedTuple):
    """What a command says of itself beside its signature and its docstring."""

    columns: tuple[AnyColumn, ...]
    agent_refusal: str | None
    examples_place: ExamplesPlace
    nothing: str
    counts_first: bool
    undo_lines: UndoLines | None

    @property
    def column_names(self) -> list[str]:
        return [c.key for c in self.columns]

    @property
    def column_meanings(self) -> dict[str, str]:
        return {c.key: c.meaning for c in self.columns}


def command(
    *,
    columns: Iterable[AnyColumn] = (),
    agent_refusal: str | None = None,
    examples: tuple[ExamplesPlace, str] = ("lab", ""),
    nothing: str = "",
    counts_first: bool = False,
    undo_lines: UndoLines | None = None,
) -> Callable[[F], F]:
    """Declare the columns of a command's rows; those of all kinds of rows, if it can return several.

    `agent_refusal` is why MCP clients cannot use it. `examples` is where the tests run its examples if not on
    the lab, and why. `nothing` is what an empty result means, with {servers} for the name servers. With
    `counts_first`, a command that deletes calls `Session.require_yes` itself, when it knows how much it would
    delete. `undo_lines` is how to undo a change. The name, kind and summary of a command are in
    `nsadmin.command_line.registry`.
    """

    columns_by_key: dict[str, AnyColumn] = {}
    for column in columns:
        columns_by_key.setdefault(column.key, column)
    declaration = CommandDeclaration(
        tuple(columns_by_key.values()), agent_refusal, examples[0], nothing, counts_first, undo_lines
    )

    def declare(function: F) -> F:
        function.declaration = declaration  # type: ignore[attr-defined]
        return function

    return declare


def declaration_of(function: Callable[..., Any]) -> CommandDeclaration:
    declaration: CommandDeclaration = function.declaration  # type: ignore[attr-defined]
    return declaration
