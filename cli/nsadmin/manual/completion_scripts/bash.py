"""Renders the script for bash 3.2, as on macOS: no associative arrays, no `compopt`, no `mapfile`."""

from collections.abc import Iterable

from nsadmin.manual.completion_scripts.command_shapes import CommandShape, CommandShapes, CompletionChoice

_SCRIPT_TEMPLATE = r"""# bash completion for nsadmin, rendered from its commands

# Splits the line up to the cursor into `words` without quotes, because bash also breaks words at : and =.
# A word that is a variable, such as $PROD, is replaced by its value. `typed` is the last word unchanged,
# `quote` its open quote.
_nsadmin_split() {
    local line=${COMP_LINE:0:COMP_POINT} letter word= begun= at
    words=() typed= quote=
    for ((at = 0; at < ${#line}; at++)); do
        letter=${line:at:1}
        if [[ -z $quote && $letter == [[:blank:]] ]]; then
            [[ $word =~ ^[$][{]?([A-Za-z_][A-Za-z_0-9]*)[}]?$ ]] && word=${!BASH_REMATCH[1]}
            [[ -n $begun ]] && words+=("$word")
            word= begun= typed=
            continue
        fi
        begun=1 typed+=$letter
        if [[ $letter == "$quote" ]]; then
            quote=
        elif [[ -z $quote && $letter == [\"\'] ]]; then
            quote=$letter
        elif [[ $letter == \\ && $quote != \' ]]; then
            ((at++))
            word+=${line:at:1} typed+=${line:at:1}
        else
            word+=$letter
        fi
    done
    words+=("$word")
}

# Sets `places`, `options` and `columns` for a command. Each option is FLAGS, or FLAGS=SOURCE if it takes a
# value.
_nsadmin_table() {
    local restore=
    family=front
    shopt -q nocasematch || restore=1
    shopt -s nocasematch
    places=() options=() columns=
    case ${1//[-_]/} in
@CASES@
    esac
    [[ -z $restore ]] || shopt -u nocasematch
    case $family in
@FAMILIES@
    esac
}

# Succeeds if the flag takes a value, and sets `source`.
_nsadmin_takes() {
    local item
    for item in "${options[@]}"; do
        if [[ $item == *=* && ,${item%%=*}, == *,"$1",* ]]; then
            source=${item#*=}
            return 0
        fi
    done
    return 1
}

# Completes the value `$1` from the source; `$2` is the text before it in the same word.
_nsadmin_values() {
    local IFS=$'\n' item found=()
    if [[ $source == columns ]]; then
        # Complete the last column of a list such as a,b or a,-b, without a blank: the list may go on.
        item=${1##*[,-]} source=$columns
        set -- "$item" "$2${1%"$item"}"
        type compopt &>/dev/null && compopt -o nospace 2>/dev/null
    fi
    case $source in
        '') ;;
        files | folders)
            item=-f
            [[ $source == files ]] || item=-d
            read -r -d '' -a found <<< "$(compgen $item -- "$1")"
            type compopt &>/dev/null && compopt -o filenames 2>/dev/null || _nsadmin_keep_plain ;;
        commands) _nsadmin_commands "$1" ;;
        *\|*)
            IFS='|'
            for item in $source; do
                [[ $item == "$1"* ]] && found+=("$item")
            done
            IFS=$'\n' ;;
        *)
            local form=quoted program=${COMP_WORDS[0]/#\~/$HOME}
            [[ -z $quote ]] || form=plain
            type -P "$program" &>/dev/null || program=nsadmin
            item=$("$program" complete "$form" "$source" "=$1" "${words[@]:1:${#words[@]} - 2}" 2>/dev/null)
            read -r -d '' -a found <<< "$item" ;;
    esac
    COMPREPLY=("${found[@]/#/$2}")
}

# Without compopt, bash inserts file names without quotes, and would run a name such as $(reboot).
_nsadmin_keep_plain() {
    local name plain=()
    for name in "${found[@]}"; do
        [[ $name == *[!A-Za-z0-9._/~+,:=@%-]* ]] || plain+=("$name")
    done
    found=("${plain[@]}")
}

# Finds the commands with the prefix `$1`, in any case, with or without - and _.
_nsadmin_commands() {
    local IFS=' ' restore= item
    shopt -q nocasematch || restore=1
    shopt -s nocasematch
    for item in $known; do
        [[ $item == "${1//[-_]/}"* ]] && found+=("$item")
    done
    [[ -z $restore ]] || shopt -u nocasematch
}

_nsadmin_flags() {
    local item flags=
    for item in "${options[@]}"; do
        flags+=" ${item%%=*}"
    done
    COMPREPLY=($(compgen -W "${flags//,/ }" -- "$1"))
}

_nsadmin() {
    local IFS=$' \t\n' known='@NAMES@'
    local words places options columns word typed quote source family item at flag
    local command= given=0 taken=, next=
    _nsadmin_split
    _nsadmin_table ''
    local last=$((${#words[@]} - 1))
    for ((at = 1; at < last; at++)); do
        word=${words[at]} flag=${words[at]%%=*}
        if [[ $word == -?* ]]; then
            taken+=$flag,
            if [[ $word != *=* ]] && _nsadmin_takes "$flag" && ((++at == last)); then
                next=value
            fi
        elif [[ -z $command || $family == group ]]; then
            command+=$word
            _nsadmin_table "$command"
        else
            ((given++))
        fi
    done
    word=${words[last]} COMPREPLY=()
    if [[ $next == value ]]; then
        _nsadmin_values "$word" ''
    elif [[ $word == --*=* ]]; then
        _nsadmin_takes "${word%%=*}" && _nsadmin_values "${word#*=}" "${word%%=*}="
    elif [[ $word == -* ]]; then
        _nsadmin_flags "$word"
    elif [[ -z $command ]]; then
        source=commands
        _nsadmin_values "$word" ''
    else
        for item in "${places[@]}"; do
            flag=${item%%=*}
            [[ $taken == *,"${flag%%,*}",* || $taken == *,"${flag##*,}",* ]] && continue
            ((given-- > 0)) && continue
            next=place source=${item#*=}
            _nsadmin_values "$word" ''
            break
        done
        [[ -n $next || -n $word ]] || _nsadmin_flags ''
    fi
    # Readline replaces only the text after the last word break, such as : or =.
    local kept=
    [[ $typed == *"$2" ]] && kept=${typed%"$2"}
    kept=${kept#[\"\']}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _nsadmin nsadmin
"""


def render_script(command_shapes: CommandShapes) -> str:
    """Return the script, which defines a function for `complete`."""
    choices_by_family = {**command_shapes.choices_by_family, "front": command_shapes.leading_choices}
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
        .replace("@NAMES@", " ".join(shape.command_name for shape in command_shapes.top_level_shapes))
    )


def _command_case(command_shape: CommandShape) -> str:
    case_parts = [f"family={command_shape.family_name}"]
    case_parts += (
        [f"places=({_quote_choices(command_shape.positional_choices)})"]
        if command_shape.positional_choices
        else []
    )
    case_parts += (
        [f"options=({_quote_choices(command_shape.own_options)})"] if command_shape.own_options else []
    )
    case_parts += [f"columns='{command_shape.column_choices}'"] if command_shape.column_names else []
    return f"        {command_shape.plain_name}) {' '.join(case_parts)} ;;"


def _family_case(family_name: str, family_choices: Iterable[CompletionChoice]) -> str:
    return f"        {family_name}) options+=({_quote_choices(family_choices)}) ;;"


def _quote_choices(choices: Iterable[CompletionChoice]) -> str:
    return " ".join(f"'{choice.flag_spec}'" for choice in choices)
