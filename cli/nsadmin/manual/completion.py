"""Completions for bash, zsh and fish: commands, and the options of each."""

from collections.abc import Sequence

from nsadmin.commands.parameters import Described
from nsadmin.manual.describe import Command
from nsadmin.output import FORMATS

_BASH = """\
# bash completion for nsadmin
_nsadmin() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= at options=
    if [[ $before == --output ]]; then
        COMPREPLY=($(compgen -W "{formats}" -- "$word"))
        return
    fi
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${{COMP_WORDS[at]}} in
            -n|--namesrvAddr|--context|--output|--timeout|--watch|--columns|--sort|--filter) ((at++)) ;;
            -*) ;;
            *) command=${{COMP_WORDS[at]}}; break ;;
        esac
    done
    case $command in
        '') COMPREPLY=($(compgen -W "{commands} {shared}" -- "$word")); return ;;
{cases}
    esac
    [[ $word == -* ]] && COMPREPLY=($(compgen -W "$options" -- "$word"))
}}
complete -o default -F _nsadmin nsadmin
"""


def bash(commands: Sequence[Command]) -> str:
    """A function for `complete`."""
    cases = "\n".join(
        f"        {command.entry.name}) options='{' '.join(_flags(command.options))}' ;;"
        for command in commands
    )
    names = " ".join(command.entry.name for command in commands)
    return _BASH.format(
        formats=" ".join(FORMATS), commands=names, shared=" ".join(_shared(commands)), cases=cases
    )


_ZSH = """\
#compdef nsadmin
# zsh completion for nsadmin
_nsadmin() {{
    local -a commands
    commands=(
{commands}
    )
    local at=2 context state state_descr line
    typeset -A opt_args
    while [[ ${{words[at]}} == -* && $at -lt $CURRENT ]]; do
        case ${{words[at]}} in
            -n|--namesrvAddr|--context|--output|--timeout|--watch|--columns|--sort|--filter) ((at++)) ;;
        esac
        ((at++))
    done
    if (( CURRENT <= at )); then
        _describe -t commands command commands
        return
    fi
    local command=${{words[at]}}
    words=("${{(@)words[at,-1]}}")
    (( CURRENT -= at - 1 ))
    case $command in
{cases}
    esac
}}
_nsadmin "$@"
"""


def zsh(commands: Sequence[Command]) -> str:
    """A function for the completion system."""
    names = "\n".join(f"        '{command.entry.name}:{_quoted(command.entry.help)}'" for command in commands)
    return _ZSH.format(commands=names, cases="\n".join(_zsh_case(command) for command in commands))


def _zsh_case(command: Command) -> str:
    specs = [_zsh_option(flag, option) for option in command.options for flag in option.flags]
    lines = " \\\n".join(
        [f"        {command.entry.name}) _arguments -S", *(f"            {spec}" for spec in specs)]
    )
    return f"{lines} \\\n            '*: :->words' ;;"


def _zsh_option(flag: str, option: Described) -> str:
    text = _quoted(option.help).replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
    behind = ""
    if option.metavar:
        values = f"({' '.join(FORMATS)})" if flag == "--output" else " "
        behind = f":{option.metavar}:{values}"
    return f"'{flag}[{text}]{behind}'"


def fish(commands: Sequence[Command]) -> str:
    """Lines of `complete`."""
    lines = [
        "# fish completion for nsadmin",
        "function __nsadmin_needs_command",
        f"    not __fish_seen_subcommand_from {' '.join(command.entry.name for command in commands)}",
        "end",
        "complete -c nsadmin -f",
    ]
    for command in commands:
        name, text = command.entry.name, _quoted(command.entry.help)
        lines.append(f"complete -c nsadmin -n __nsadmin_needs_command -a {name} -d '{text}'")
    for command in commands:
        condition = f"'__fish_seen_subcommand_from {command.entry.name}'"
        lines += [f"complete -c nsadmin -n {condition} {_fish_option(option)}" for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Described) -> str:
    words = [
        f"-l {flag[2:]}" if flag.startswith("--") else f"-{'s' if len(flag) == 2 else 'o'} {flag[1:]}"
        for flag in option.flags
    ]
    if "--output" in option.flags:
        words.append(f"-xa '{' '.join(FORMATS)}'")
    elif option.metavar:
        words.append("-x")
    return " ".join([*words, f"-d '{_quoted(option.help)}'"])


def _flags(options: Sequence[Described]) -> list[str]:
    return [flag for option in options for flag in option.flags]


def _shared(commands: Sequence[Command]) -> list[str]:
    """The options that every command that reads has, and that may stand before it."""
    own = [_flags(command.options) for command in commands if command.entry.kind == "read"]
    return [flag for flag in own[0] if all(flag in flags for flags in own)]


def _quoted(text: str) -> str:
    return text.replace("'", "")
