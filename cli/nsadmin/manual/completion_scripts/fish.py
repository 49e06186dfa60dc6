"""Renders the script for fish: it prints all candidates, and fish filters, quotes and escapes them."""

from collections.abc import Iterable

from nsadmin.manual.completion_scripts.command_shapes import CommandShape, CommandShapes, CompletionChoice

_SCRIPT_TEMPLATE = r"""# fish completion for nsadmin, rendered from its commands

# Sets places, options and columns for a command. Each option is FLAGS, or FLAGS=SOURCE if it takes a value,
# then a blank and its help.
function __nsadmin_table --no-scope-shadowing
    set family front
    set places
    set options
    set columns ''
    switch (string replace -ra '[-_]' '' -- $argv[1] | string lower)
@CASES@
    end
    switch $family
@FAMILIES@
    end
end

# Succeeds if the flag takes a value, and sets source.
function __nsadmin_takes --no-scope-shadowing
    for __nsadmin_item in $options
        set __nsadmin_item (string split -m1 ' ' -- $__nsadmin_item)[1]
        set -l parts (string split -m1 '=' -- $__nsadmin_item)
        if set -q parts[2]; and contains -- $argv[1] (string split ',' -- $parts[1])
            set source $parts[2]
            test "$source" = columns; and set source "columns:$columns"
            return 0
        end
    end
    return 1
end

# Prints the values of a source that begin with the typed text. $argv[4..] are the words before.
function __nsadmin_values --argument-names source typed head
    switch $source
        case ''
        case files
            # Unchanged, because fish expands ~ and variables in paths.
            test -z "$head"; and set typed (commandline -ct)
            printf '%s\n' $head(__fish_complete_path $typed)
        case folders
            printf '%s\n' $head(__fish_complete_directories $typed '')
        case commands
            printf '%s\n' @NAMES@
        case 'columns:*'
            # Complete the last column of a list such as a,b or a,-b.
            set -l others (string replace -r '[^,-]*$' '' -- $typed)
            set -l columns (string split -n '|' -- (string replace 'columns:' '' -- $source))
            printf '%s\n' $head$others$columns
        case '*|*'
            printf '%s\n' $head(string split -n '|' -- $source)
        case '*'
            set -l program (string replace -r '^~' $HOME -- $argv[4])
            type -q $program; or set program nsadmin
            set -l before
            for word in $argv[5..]
                # A word that is a variable, such as $PROD, is replaced by its value.
                set -l variable (string match -r '^\$(\w+)$' -- $word)[2]
                set -q variable[1]; and set -a before $$variable; or set -a before $word
            end
            set -l found ($program complete described $source "=$typed" $before 2>/dev/null)
            set -q found[1]; and printf '%s\n' $head$found
    end
end

# Prints the commands of a group.
function __nsadmin_members --argument-names group
    for member in @MEMBERS@
        string match -q -- "$group *" $member; and string replace -r '^\S+ ' '' -- $member
    end
end

function __nsadmin_flags
    for item in $argv
        set -l parts (string split -m1 ' ' -- $item)
        for flag in (string split ',' -- (string split -m1 '=' -- $parts[1])[1])
            printf '%s\t%s\n' $flag $parts[2]
        end
    end
end

function __nsadmin_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string replace -r '^["\']' '')
    set typed (string unescape -- $typed; or printf '%s' $typed)
    set -l given 0
    set -l taken
    set -l family
    set -l places
    set -l options
    set -l columns
    set -l source
    set -l command
    set -l waiting
    set -l __nsadmin_item
    __nsadmin_table ''
    for word in $words[2..]
        if set -q waiting[1]
            set waiting
        else if string match -q -- '-?*' $word
            set -a taken (string split -m1 '=' -- $word)[1]
            if not string match -q -- '*=*' $word; and __nsadmin_takes $word
                set waiting value
            end
        else if not set -q command[1]; or test "$family" = group
            set command "$command$word"
            __nsadmin_table $command
        else
            set given (math $given + 1)
        end
    end
    if set -q waiting[1]
        __nsadmin_values "$source" "$typed" '' $words
    else if string match -q -- '--*=*' "$typed"
        set -l parts (string split -m1 '=' -- $typed)
        __nsadmin_takes $parts[1]; and __nsadmin_values "$source" "$parts[2]" "$parts[1]=" $words
    else if string match -q -- '-*' "$typed"
        __nsadmin_flags $options
    else if not set -q command[1]
        __nsadmin_values commands '' ''
    else if test "$family" = group
        __nsadmin_members (string lower -- $command)
    else
        for item in $places
            set -l parts (string split -m1 '=' -- (string split -m1 ' ' -- $item)[1])
            set -l is_taken
            for flag in (string split -n ',' -- $parts[1])
                contains -- $flag $taken; and set is_taken yes
            end
            set -q is_taken[1]; and continue
            if test $given -gt 0
                set given (math $given - 1)
                continue
            end
            __nsadmin_values "$parts[2]" "$typed" '' $words
            return
        end
        test -n "$typed"; or __nsadmin_flags $options
    end
end

complete -c nsadmin -f -a '(__nsadmin_complete)'
"""


def render_script(command_shapes: CommandShapes) -> str:
    """Return the script, for fish's folder of completions or to source."""
    choices_by_family = {**command_shapes.choices_by_family, "front": command_shapes.leading_choices}
    member_names = " ".join(
        f"{_quote_text(command_shape.command_name)}\\t{_quote_text(command_shape.help_text)}"
        for command_shape in command_shapes.member_shapes
    )
    command_names = " ".join(
        f"{command_shape.command_name}\\t{_quote_text(command_shape.help_text)}"
        for command_shape in command_shapes.top_level_shapes
    )
    return (
        _SCRIPT_TEMPLATE.replace(
            "@CASES@",
            "\n".join(_command_case(command_shape) for command_shape in command_shapes.command_shapes),
        )
        .replace(
            "@FAMILIES@",
            "\n".join(
                _family_case(family_name, family_choices)
                for family_name, family_choices in choices_by_family.items()
                if family_choices
            ),
        )
        .replace("@NAMES@", command_names)
        .replace("@MEMBERS@", member_names)
    )


def _command_case(command_shape: CommandShape) -> str:
    case_lines = [
        f"        case {command_shape.plain_name}",
        f"            set family {command_shape.family_name}",
    ]
    case_lines += (
        [f"            set places{_list_choices(command_shape.positional_choices)}"]
        if command_shape.positional_choices
        else []
    )
    case_lines += (
        [f"            set options{_list_choices(command_shape.own_options)}"]
        if command_shape.own_options
        else []
    )
    case_lines += (
        [f"            set columns {_quote_text(command_shape.column_choices)}"]
        if command_shape.column_names
        else []
    )
    return "\n".join(case_lines)


def _family_case(family_name: str, family_choices: Iterable[CompletionChoice]) -> str:
    return f"        case {family_name}\n            set -a options{_list_choices(family_choices)}"


def _list_choices(choices: Iterable[CompletionChoice]) -> str:
    return "".join(
        f" \\\n                {_quote_text(f'{choice.flag_spec} {choice.help_text}')}" for choice in choices
    )


def _quote_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
