# bash completion for nsadmin, for bash 3.2 and later. In ~/.bashrc: source <(nsadmin completion bash)
# nsadmin finds what can replace the last word: a line for each value, with a description behind a tab.

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

# Completes the path `$2`; `$3` is the text before it in the same word.
_nsadmin_paths() {
    local path
    if type compopt &>/dev/null && compopt -o filenames 2>/dev/null; then
        while IFS= read -r path; do
            COMPREPLY+=("$3$path")
        done < <(compgen "$1" -- "$2")
        return
    fi
    # Without compopt, bash inserts file names without quotes, and would run a name such as $(reboot).
    while IFS= read -r path; do
        [[ $path == *[!A-Za-z0-9._/~+,:=@%-]* ]] || COMPREPLY+=("$3$path")
    done < <(compgen "$1" -- "$2")
}

_nsadmin() {
    local IFS=$' \t\n' words typed quote line value head tab=$'\t'
    _nsadmin_split
    local program=${COMP_WORDS[0]/#\~/$HOME}
    type -P "$program" &>/dev/null || program=nsadmin
    COMPREPLY=()
    while IFS= read -r line; do
        value=${line%%$tab*} head=
        [[ $value == --*=* ]] && head=${value%%=*}=
        case $line in
            *$tab:files) _nsadmin_paths -f "${value#"$head"}" "$head" ;;
            *$tab:folders) _nsadmin_paths -d "${value#"$head"}" "$head" ;;
            *)
                [[ -n $quote ]] || printf -v value %q "$value"
                COMPREPLY+=("$value") ;;
        esac
    done < <(_NSADMIN_COMPLETE=1 "$program" "${words[@]:1}" 2>/dev/null)
    # Readline replaces only the text after the last word break, such as : or =.
    local kept=
    [[ $typed == *"$2" ]] && kept=${typed%"$2"}
    kept=${kept#[\"\']}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}

complete -F _nsadmin nsadmin
