"""The Typer application. A command is built, and its module loaded, when its name is used."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from nsadmin.command_line import registry, usage
from nsadmin.command_line.completion.lookup import Candidate
from nsadmin.command_line.declarations import Parameter
from nsadmin.command_line.registry import CommandEntry
from nsadmin.command_line.shared_options import leading_parameters, to_parameters
from nsadmin.command_line.typer_commands import (
    TYPER_SETTINGS,
    BuiltOptions,
    SessionCommand,
    build_command,
    declare_parameters,
)
from nsadmin.command_line.value_completion import complete_value

HELP_FLAGS = ("-h", "--help")
_APPLICATION_OPTIONS = {
    "wants_help": Annotated[bool, typer.Option(*HELP_FLAGS, help="Show the help.")],
    "wants_version": Annotated[bool, typer.Option("--version", help="Print the version.")],
}
_ANY_WORDS = {"help_option_names": [], "ignore_unknown_options": True, "allow_extra_args": True}
_ALL_WORDS, _COMMAND_WORDS, _IS_UNKNOWN = "nsadmin.all_words", "nsadmin.command_words", "nsadmin.is_unknown"
"""Keys of a context: all words, those from the command on, and whether they name none."""


class Actions(NamedTuple):
    """What the application does with the words that it parsed; each returns an exit code.

    `run_command` gets the words after the command's name, the command and the value of each parameter.
    `show_help` gets the words that help is wanted for, and `show_group` the name of a group, and whether its
    help is what the line asks for.
    """

    run_command: Callable[[Sequence[str], SessionCommand, Mapping[str, Any]], int]
    show_help: Callable[[Sequence[str]], int]
    show_group: Callable[[str, bool], int]
    show_version: Callable[[Sequence[str]], int]


class CommandGroup(TyperGroup):
    """The words that may follow `nsadmin`, or `nsadmin kv` in the group kv.

    `commands` only has the names and summaries that TAB offers. `leading_options` are those that Typer has
    built for the words before a command's name.
    """

    is_completing = False
    leading_options: BuiltOptions = ()

    def shell_complete(self, ctx: typer.Context, incomplete: str) -> list[Any]:  # type: ignore[override]
        """The options, or the names in any spelling."""
        if ctx.meta.get(_IS_UNKNOWN):
            return []
        if incomplete.startswith("-"):
            flags = {flag for parameter in leading_parameters() for flag in parameter.flag_names}
            flags |= {*HELP_FLAGS, "--version"}
            return [item for item in super().shell_complete(ctx, incomplete) if item.value in flags]
        start = registry.plain_name(incomplete)
        return [
            item
            for item in super().shell_complete(ctx, "")
            if registry.plain_name(item.value).startswith(start)
        ]

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        ctx.meta[_ALL_WORDS] = all_words = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except usage.ParsingError as error:
            if self.name:
                raise usage.unknown_command_error([self.name, *all_words]) from None
            advice = "write the options of a command after its name"
            raise usage.describe_parsing_error(
                error, all_words, "nsadmin COMMAND", leading_parameters(), advice
            ) from None

    def resolve_command(  # type: ignore[override]
        self, ctx: typer.Context, args: list[str]
    ) -> tuple[str | None, Any, list[str]]:
        words = [self.name, *args] if self.name else args
        ctx.meta[_COMMAND_WORDS] = words
        entry, rest = registry.take_command(words)
        if entry is not None:
            # The options before the command's name are its own.
            all_words = ctx.meta[_ALL_WORDS]
            rest = [*all_words[: len(all_words) - len(args)], *rest]
            return entry.typed_name, self._build_command(ctx, entry, tuple(rest)), rest
        if not self.name and registry.find_group(args[0]):
            return args[0], _build_group(args[0].lower(), self.is_completing), args[1:]
        if not self.name and args[0] in ("help", "version"):
            return args[0], self.commands[args[0]], args[1:]
        if ctx.resilient_parsing:
            ctx.meta[_IS_UNKNOWN] = True
            return None, None, args
        raise usage.unknown_command_error(words)

    def _build_command(self, ctx: typer.Context, entry: CommandEntry, words: Sequence[str]) -> TyperCommand:
        if self.is_completing:
            return build_command(entry, None)
        root: Any = ctx.find_root().command
        return build_command(entry, partial(_actions_of(ctx).run_command, words), root.leading_options)


def _actions_of(ctx: typer.Context) -> Actions:
    assert isinstance(ctx.obj, Actions)
    return ctx.obj


@cache
def build_application(*, is_completing: bool = False) -> CommandGroup:
    """Build the application: the options that may stand before a command's name, help and version.

    Its context has the actions as `obj`, unless it completes lines.
    """
    app = typer.Typer(**TYPER_SETTINGS)

    def start(ctx: typer.Context, wants_help: bool, wants_version: bool, **_: Any) -> None:
        """Do what the options in front ask for. The command parses the others again, as its own."""
        actions = _actions_of(ctx)
        if wants_version:
            raise typer.Exit(actions.show_version([]))
        if wants_help:
            raise typer.Exit(actions.show_help(ctx.meta.get(_COMMAND_WORDS, ())))
        if ctx.invoked_subcommand is None:
            raise typer.Exit(actions.show_help([]))

    def complete_option(ctx: typer.Context, parameter: Parameter, typed_text: str) -> list[Candidate]:
        return complete_value(ctx, parameter, typed_text, ctx.params)

    declare_parameters(
        start,
        [*to_parameters(_APPLICATION_OPTIONS), *leading_parameters()],
        has_context=True,
        completer=complete_option if is_completing else None,
    )
    _declare_group(app, None)(start)

    @app.command("help", help="Show the help of a command or a subject", context_settings=_ANY_WORDS)
    def show_help(ctx: typer.Context) -> int:
        return _actions_of(ctx).show_help(ctx.args)

    @app.command("version", help="Print the version", context_settings=_ANY_WORDS)
    def show_version(ctx: typer.Context) -> int:
        return _actions_of(ctx).show_version(ctx.args)

    group = _complete_group(app, registry.list_top_level_names(), is_completing)
    options = {option.name: option for option in group.params}
    group.leading_options = tuple((parameter, options[parameter.name]) for parameter in leading_parameters())
    return group


def complete_line(
    words_before: Sequence[str], typed_word: str, deadline_seconds: float | None = None
) -> list[Candidate]:
    """The words that can replace `typed_word` after the words before it, with their descriptions.

    It waits for servers until the deadline, in seconds since 1970. Without a deadline, it has the patience of
    a shell, and leaves paths to the shell: see `complete_value`.
    """
    # Typer exports no way to complete a line without a shell.
    from typer._click.shell_completion import ShellComplete

    class LineCompletion(ShellComplete):
        name = source_template = ""

        def source_vars(self) -> dict[str, Any]:
            return {}

        def get_completion_args(self) -> tuple[list[str], str]:
            return list(words_before), typed_word

        def format_completion(self, item: Any) -> str:
            return str(item.value)

    completion = LineCompletion(
        build_application(is_completing=True), {"obj": deadline_seconds}, "nsadmin", ""
    )
    items = completion.get_completions(list(words_before), typed_word)
    flag, equals_sign, _ = typed_word.partition("=")
    joined_flag = f"{flag}=" if equals_sign and flag.startswith("-") else ""
    return [(f"{joined_flag}{item.value}", item.help or "") for item in items]


def _declare_group(app: typer.Typer, name: str | None) -> Callable[[Any], Any]:
    app.info.name = name
    return app.callback(
        cls=CommandGroup, invoke_without_command=True, context_settings={"help_option_names": []}
    )


@cache
def _build_group(name: str, is_completing: bool) -> CommandGroup:
    app = typer.Typer(**TYPER_SETTINGS)

    def show_group(
        ctx: typer.Context, wants_help: Annotated[bool, typer.Option(*HELP_FLAGS)] = False
    ) -> None:
        if wants_help or ctx.invoked_subcommand is None:
            raise typer.Exit(_actions_of(ctx).show_group(name, wants_help))

    _declare_group(app, name)(show_group)
    return _complete_group(app, registry.list_group_words(name), is_completing)


def _complete_group(app: typer.Typer, summaries: Mapping[str, str], is_completing: bool) -> CommandGroup:
    group = get_group(app)
    assert isinstance(group, CommandGroup)
    group.is_completing = is_completing
    for name, summary in summaries.items():
        group.commands[name] = TyperCommand(name, short_help=summary, add_help_option=False)
    return group
