"""Renders the script for PowerShell 5.1 and later: a native argument completer."""

from collections.abc import Iterable

from nsadmin.manual.completion_scripts.command_shapes import CommandShape, CommandShapes, CompletionChoice

_SCRIPT_TEMPLATE = r"""# PowerShell completion for nsadmin, rendered from its commands

Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The places, options and columns of each command. Each option is FLAGS, or FLAGS=SOURCE if it takes a
    # value, then a blank and its help.
    $commands = @{
@CASES@
    }
    $families = @{
@FAMILIES@
    }

    function Offer([string]$value, [string]$text, [string]$head = '') {
        if (-not $text) { $text = $value }
        $full = $head + $value
        # Quote values with special characters. Typographic quotes also end a text, so double each of them.
        if ($full -match '[^\w\-./:=+]') {
            $full = "'" + ($full -replace '[''\u2018-\u201b]', '$0$0') + "'"
        }
        [System.Management.Automation.CompletionResult]::new($full, $value, 'ParameterValue', $text)
    }

    # An ordinal comparison, because a culture can ignore dashes.
    function Test-Start([string]$text, [string]$start) {
        $text.StartsWith($start, [System.StringComparison]::Ordinal)
    }

    # Returns the option of a flag that takes a value, and null for any other flag.
    function Find-Flag([string]$flag, $options) {
        foreach ($item in $options) {
            $spec = ($item -split ' ', 2)[0]
            $flags, $source = $spec -split '=', 2
            if ($null -ne $source -and ($flags -split ',') -ccontains $flag) { return $spec }
        }
    }

    function Offer-Paths([string]$typed, [string]$head, [string]$kind) {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) |
            Where-Object { "$($_.ResultType)" -like $kind } |
            ForEach-Object { if ($head) { Offer $_.CompletionText $_.ToolTip $head } else { $_ } }
    }

    # Offers the values of a source.
    function Offer-Values([string]$source, [string]$typed, [string]$head) {
        switch -Wildcard -CaseSensitive ($source) {
            '' { return }
            'files' { Offer-Paths $typed $head '*'; return }
            'folders' { Offer-Paths $typed $head 'ProviderContainer'; return }
            'commands' {
                $commands.GetEnumerator() | Where-Object { $_.Value.name -notlike '* *' } |
                    Where-Object { $_.Key -like ($typed -replace '[-_]') + '*' } |
                    Sort-Object Key | ForEach-Object { Offer $_.Value.name $_.Value.help }
                return
            }
            'columns' {
                # Complete the last column of a list such as a,b or a,-b.
                $last = $typed -replace '^.*[,-]'
                $others = $typed.Substring(0, $typed.Length - $last.Length)
                $columns -split '[|]' | Where-Object { $_ -and (Test-Start $_ $last) } |
                    ForEach-Object { Offer $_ $_ "$head$others" }
                return
            }
            '*|*' {
                $source -split '[|]' | Where-Object { $_ -and (Test-Start $_ $typed) } |
                    ForEach-Object { Offer $_ $_ $head }
                return
            }
            default {
                # PowerShell before 7.3 drops empty arguments, hence the =.
                & $program complete described $source "=$typed" @before 2>$null | ForEach-Object {
                    $value, $text = $_ -split "`t", 2
                    Offer $value $text $head
                }
            }
        }
    }

    function Offer-Flags([string]$typed, $options) {
        foreach ($item in $options) {
            $spec, $text = $item -split ' ', 2
            foreach ($flag in ($spec -split '=', 2)[0] -split ',') {
                if (Test-Start $flag $typed) {
                    [System.Management.Automation.CompletionResult]::new($flag, $flag, 'ParameterName', $text)
                }
            }
        }
    }

    $typed = $wordToComplete.TrimStart("'", '"')
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    $words = @($elements | ForEach-Object {
        # Without its quotes.
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.ToString() }
    })
    if (-not $words) { return }
    $program = if (Get-Command $words[0] -ErrorAction SilentlyContinue) { $words[0] } else { 'nsadmin' }
    $before = @($words | Select-Object -Skip 1)
    $places, $options, $columns, $command, $family = @(), $families['front'], '', $null, $null
    $given, $taken, $waiting = 0, @(), $null
    foreach ($word in $before) {
        if ($waiting) {
            $waiting = $null
        } elseif ($word -like '-?*') {
            $taken += ($word -split '=', 2)[0]
            if (-not $word.Contains('=')) { $waiting = Find-Flag $word $options }
        } elseif ($null -eq $command -or $family -eq 'group') {
            $command += $word
            $found = $commands[$command -replace '[-_]']
            $family = $found.family
            if ($found) {
                $places, $columns = $found.places, $found.columns
                $options = @($found.options) + @($families[$found.family])
            } else {
                $places, $options, $columns = @(), @(), ''
            }
        } else {
            $given++
        }
    }

    if ($waiting) {
        Offer-Values ($waiting -split '=', 2)[1] $typed ''
    } elseif ($typed -like '--*=*') {
        $flag, $value = $typed -split '=', 2
        $spec = Find-Flag $flag $options
        if ($spec) { Offer-Values ($spec -split '=', 2)[1] $value "$flag=" }
    } elseif ($typed -like '-*') {
        Offer-Flags $typed $options
    } elseif ($null -eq $command) {
        Offer-Values 'commands' $typed ''
    } else {
        foreach ($item in $places) {
            $flags, $source = ($item -split ' ', 2)[0] -split '=', 2
            if ($flags -split ',' | Where-Object { $_ -and $taken -ccontains $_ }) { continue }
            if ($given -gt 0) { $given--; continue }
            Offer-Values $source $typed ''
            return
        }
        if (-not $typed) { Offer-Flags '' $options }
    }
}
"""


def render_script(command_shapes: CommandShapes) -> str:
    """Return the script, for a PowerShell profile."""
    choices_by_family = {**command_shapes.choices_by_family, "front": command_shapes.leading_choices}
    return _SCRIPT_TEMPLATE.replace(
        "@CASES@", "\n".join(_command_case(command_shape) for command_shape in command_shapes.command_shapes)
    ).replace(
        "@FAMILIES@",
        "\n".join(
            _family_case(family_name, family_choices)
            for family_name, family_choices in choices_by_family.items()
        ),
    )


def _command_case(command_shape: CommandShape) -> str:
    return (
        f"        '{command_shape.plain_name}' = @{{\n"
        f"            name = '{command_shape.command_name}'; family = '{command_shape.family_name}'; "
        f"help = {_quote_text(command_shape.help_text)}\n"
        f"            places = {_choice_array(command_shape.positional_choices)}\n"
        f"            options = {_choice_array(command_shape.own_options)}; "
        f"columns = '{command_shape.column_choices}'\n"
        "        }"
    )


def _family_case(family_name: str, family_choices: Iterable[CompletionChoice]) -> str:
    return f"        '{family_name}' = {_choice_array(family_choices)}"


def _choice_array(choices: Iterable[CompletionChoice]) -> str:
    return "@(" + ", ".join(_quote_text(f"{choice.flag_spec} {choice.help_text}") for choice in choices) + ")"


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
