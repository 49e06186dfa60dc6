"""The Typer application. A command is built, and its module loaded, when its name is used."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
_COMMAND_WORDS, _IS_UNKNOWN = "nsadmin.command_words", "nsadmin.is_unknown"
"""Keys of a context: the words from the command on, and whether they name none."""


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

    `commands` only has the names and summaries that TAB offers. Without `actions`, the group completes lines.
    """

    actions: Actions | None = None
    _all_words: Sequence[str] = ()

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
        self._all_words = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except usage.ParsingError as error:
            if self.name:
                raise usage.unknown_command_error([self.name, *self._all_words]) from None
            advice = "write the options of a command after its name"
            raise usage.describe_parsing_error(
                error, "nsadmin COMMAND", leading_parameters(), advice
            ) from None

    def resolve_command(  # type: ignore[override]
        self, ctx: typer.Context, args: list[str]
    ) -> tuple[str | None, Any, list[str]]:
        words = [self.name, *args] if self.name else args
        ctx.meta[_COMMAND_WORDS] = words
        entry, rest = registry.take_command(words)
        if entry is not None:
            # The options before the command's name are its own.
            rest = [*self._all_words[: len(self._all_words) - len(args)], *rest]
            return entry.typed_name, self._build_command(ctx, entry, tuple(rest)), rest
        if not self.name and registry.find_group(args[0]):
            return args[0], _build_group(args[0].lower(), self.actions), args[1:]
        if not self.name and args[0] in ("help", "version"):
            return args[0], self.commands[args[0]], args[1:]
        if ctx.resilient_parsing:
            ctx.meta[_IS_UNKNOWN] = True
            return None, None, args
        raise usage.unknown_command_error(words)

    def _build_command(self, ctx: typer.Context, entry: CommandEntry, words: Sequence[str]) -> TyperCommand:
        if self.actions is None:
            return build_command(entry, None)
        leading_options = {option.name: option for option in ctx.find_root().command.params}
        options = {p: leading_options[p.name] for p in leading_parameters()}
        return build_command(entry, partial(self.actions.run_command, words), options)


def build_application(actions: Actions | None = None) -> CommandGroup:
    """Build the application: the options that may stand before a command's name, help and version."""
    app = typer.Typer(**TYPER_SETTINGS)

    def start(ctx: typer.Context, wants_help: bool, wants_version: bool, **_: Any) -> None:
        """Do what the options in front ask for. The command parses the others again, as its own."""
        assert actions is not None
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
        completer=complete_option if actions is None else None,
    )
    _declare_group(app, None)(start)

    @app.command("help", help="Show the help of a command or a subject", context_settings=_ANY_WORDS)
    def show_help(ctx: typer.Context) -> int:
        assert actions is not None
        return actions.show_help(ctx.args)

    @app.command("version", help="Print the version", context_settings=_ANY_WORDS)
    def show_version(ctx: typer.Context) -> int:
        assert actions is not None
        return actions.show_version(ctx.args)

    return _complete_group(app, registry.list_top_level_names(), actions)


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

    completion = LineCompletion(build_application(), {"obj": deadline_seconds}, "nsadmin", "")
    items = completion.get_completions(list(words_before), typed_word)
    flag, equals_sign, _ = typed_word.partition("=")
    joined_flag = f"{flag}=" if equals_sign and flag.startswith("-") else ""
    return [(f"{joined_flag}{item.value}", item.help or "") for item in items]


def _declare_group(app: typer.Typer, name: str | None) -> Callable[[Any], Any]:
    app.info.name = name
    return app.callback(
        cls=CommandGroup, invoke_without_command=True, context_settings={"help_option_names": []}
    )


def _build_group(name: str, actions: Actions | None) -> CommandGroup:
    app = typer.Typer(**TYPER_SETTINGS)

    def show_group(
        ctx: typer.Context, wants_help: Annotated[bool, typer.Option(*HELP_FLAGS)] = False
    ) -> None:
        assert actions is not None
        if wants_help or ctx.invoked_subcommand is None:
            raise typer.Exit(actions.show_group(name, wants_help))

    _declare_group(app, name)(show_group)
    return _complete_group(app, registry.list_group_words(name), actions)


def _complete_group(app: typer.Typer, summaries: Mapping[str, str], actions: Actions | None) -> CommandGroup:
    group = get_group(app)
    assert isinstance(group, CommandGroup)
    group.actions = actions
    for name, summary in summaries.items():
        group.commands[name] = TyperCommand(name, short_help=summary, add_help_option=False)
    return group
