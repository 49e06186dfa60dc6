# fish completion for nsadmin. In ~/.config/fish/config.fish: nsadmin completion fish | source
# nsadmin finds what can replace the last word: a line for each value, with a description behind a tab.

function __nsadmin_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct | string replace -r '^["\']' '')
    set typed (string unescape -- $typed; or printf '%s' $typed)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    type -q $program; or set program nsadmin
    set -l before
    for word in $words[2..]
        # A word that is a variable, such as $PROD, is replaced by its value.
        set -l variable (string match -r '^\$(\w+)$' -- $word)[2]
        set -q variable[1]; and set -a before $$variable; or set -a before $word
    end
    set -l lines (env _NSADMIN_COMPLETE=1 $program $before "$typed" 2>/dev/null)
    set -l head (string match -r -- '^--[^=]*=' "$typed")
    # Unchanged, because fish expands ~ and variables in paths.
    set -l path (commandline -ct)
    set -q head[1]; and set path (string replace -- $head '' $typed); or set head ''
    switch "$lines[1]"
        case '*'\t':files'
            printf '%s\n' $head(__fish_complete_path $path)
        case '*'\t':folders'
            printf '%s\n' $head(__fish_complete_directories $path '')
        case '?*'
            printf '%s\n' $lines
    end
end

complete -c nsadmin -f -a '(__nsadmin_complete)'
