"""Renders the script for zsh, whose completion system quotes and escapes values."""

from collections.abc import Iterable

from nsadmin.manual.completion_scripts.command_shapes import CommandShape, CommandShapes, CompletionChoice

_SCRIPT_TEMPLATE = r"""#compdef nsadmin
# zsh completion for nsadmin, rendered from its commands

# Sets `places`, `options` and `columns` for a command. Each option is FLAGS, or FLAGS=SOURCE if it takes a
# value, then a blank and its help.
_nsadmin_table() {
    family=front
    places=() options=() columns=
    case ${(L)1//[-_]/} in
@CASES@
    esac
    case $family in
@FAMILIES@
    esac
}

# Succeeds if the flag takes a value, and sets `source`.
_nsadmin_takes() {
    local item
    for item in $options; do
        item=${item%% *}
        if [[ $item == *=* && ,${item%%=*}, == *,$1,* ]]; then
            source=${item#*=}
            return 0
        fi
    done
    return 1
}

# Completes a value from the source.
_nsadmin_values() {
    local -a before lines shown match mbegin mend
    local -i at
    local MATCH MBEGIN MEND tab=$'\t'
    case $source in
        '') return 1 ;;
        files) _files ;;
        folders) _files -/ ;;
        commands) _nsadmin_commands ;;
        columns)
            # Complete the last column of a list such as a,b or a,-b, without a blank: the list may go on.
            compset -P '*[,-]'
            compadd -S '' -- ${(s:|:)columns} ;;
        *\|*) compadd -- ${(s:|:)source} ;;
        *)
            local program=${(Q)words[1]/#\~/$HOME}
            (( $+commands[$program] )) || [[ -x $program ]] || program=nsadmin
            before=("${(@Q)words[2,CURRENT-1]}")
            # A word that is a variable, such as $PROD, is replaced by its value.
            for ((at = 1; at <= $#before; at++)); do
                [[ $before[at] =~ '^[$][{]?([A-Za-z_][A-Za-z_0-9]*)[}]?$' ]] && before[at]=${(P)match[1]}
            done
            lines=("${(@f)$($program complete described $source "=${(Q)PREFIX}" "${before[@]}" 2>/dev/null)}")
            [[ -n $lines[1] ]] || return 1
            if (( $lines[(I)*$tab*] )); then
                # Show descriptions beside the values. Topics have none, and there can be thousands.
                shown=("${(@)lines/$tab/  -- }")
                lines=("${(@)lines%%$tab*}")
                compadd -d shown -a lines
            else
                compadd -a lines
            fi
            ;;
    esac
}

_nsadmin_commands() {
    local -a known=(
@NAMES@
    )
    _describe -t commands command known -M 'm:{a-zA-Z}={A-Za-z} m:[-_]='
}

# Completes the commands of the group that is on the line.
_nsadmin_members() {
    local -a known members=(
@MEMBERS@
    )
    known=(${${(M)members:#${(L)command} *}#* })
    _describe -t commands command known -M 'm:{a-zA-Z}={A-Za-z}'
}

_nsadmin_flags() {
    local -a known
    local item flag
    for item in $options; do
        for flag in ${(s:,:)${${item%% *}%%=*}}; do
            known+=("$flag:${item#* }")
        done
    done
    _describe -o -t options option known
}

_nsadmin() {
    local -a places options taken
    local word source columns family command next item
    local -i at given=0
    _nsadmin_table ''
    for ((at = 2; at < CURRENT; at++)); do
        word=${(Q)words[at]}
        if [[ $word == -?* ]]; then
            taken+=(${word%%=*})
            if [[ $word != *=* ]] && _nsadmin_takes $word && ((++at == CURRENT)); then
                next=value
            fi
        elif [[ -z $command || $family == group ]]; then
            command+=$word
            _nsadmin_table $command
        else
            ((given++))
        fi
    done
    if [[ $next == value ]]; then
        _nsadmin_values
    elif [[ $PREFIX == --*=* ]]; then
        _nsadmin_takes ${PREFIX%%=*} && compset -P '*=' && _nsadmin_values
    elif [[ $PREFIX == -* ]]; then
        _nsadmin_flags
    elif [[ -z $command ]]; then
        _nsadmin_commands
    elif [[ $family == group ]]; then
        _nsadmin_members
    else
        for item in $places; do
            item=${item%% *}
            (( ${#${(s:,:)${item%%=*}}:*taken} )) && continue
            ((given-- > 0)) && continue
            next=place source=${item#*=}
            _nsadmin_values
            return
        done
        [[ -n $PREFIX ]] || _nsadmin_flags
    fi
}

# From $fpath, zsh calls the file as the function. A sourced file registers the function.
if [[ $funcstack[1] == _nsadmin ]]; then
    _nsadmin "$@"
else
    compdef _nsadmin nsadmin
fi
"""


def render_script(command_shapes: CommandShapes) -> str:
    """Return the script, for a folder of $fpath or to source after compinit."""
    choices_by_family = {**command_shapes.choices_by_family, "front": command_shapes.leading_choices}
    member_names = (
        f"        {_quote_text(f'{command_shape.command_name}:{command_shape.help_text}')}"
        for command_shape in command_shapes.member_shapes
    )
    command_names = (
        f"        {_quote_text(f'{command_shape.command_name}:{command_shape.help_text}')}"
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
        .replace("@NAMES@", "\n".join(command_names))
        .replace("@MEMBERS@", "\n".join(member_names))
    )


def _command_case(command_shape: CommandShape) -> str:
    case_lines = [f"        {command_shape.plain_name})", f"            family={command_shape.family_name}"]
    case_lines += (
        [f"            places=({_choice_array(command_shape.positional_choices)})"]
        if command_shape.positional_choices
        else []
    )
    case_lines += (
        [f"            options=({_choice_array(command_shape.own_options)})"]
        if command_shape.own_options
        else []
    )
    case_lines += (
        [f"            columns='{command_shape.column_choices}'"] if command_shape.column_names else []
    )
    return "\n".join([*case_lines, "            ;;"])


def _family_case(family_name: str, family_choices: Iterable[CompletionChoice]) -> str:
    return f"        {family_name}) options+=({_choice_array(family_choices)}) ;;"


def _choice_array(choices: Iterable[CompletionChoice]) -> str:
    quoted_items = "".join(
        f"\n                {_quote_text(f'{choice.flag_spec} {choice.help_text}')}" for choice in choices
    )
    return f"{quoted_items}\n            "


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
