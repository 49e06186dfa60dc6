"""PowerShell, from 5.1 on: a native argument completer."""

from collections.abc import Iterable

from nsadmin.manual.completion.shapes import Choice, Shape, Shapes

_SCRIPT = r"""# PowerShell completion for nsadmin, rendered from its commands

Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What may stand behind a command. Each is FLAGS, or FLAGS=SOURCE where a value belongs to it; behind a
    # blank, what it is for.
    $commands = @{
@CASES@
    }
    $families = @{
@FAMILIES@
    }

    function Offer([string]$value, [string]$text, [string]$head = '') {
        if (-not $text) { $text = $value }
        $full = $head + $value
        # What PowerShell would take for something else is put between quotes.
        if ($full -match '[^\w\-./:=+]') { $full = "'" + $full.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($full, $value, 'ParameterValue', $text)
    }

    # Letter by letter: a culture may have its own idea of dashes.
    function Test-Start([string]$text, [string]$start) {
        $text.StartsWith($start, [System.StringComparison]::Ordinal)
    }

    # The specification of a flag to which a value belongs, and null for any other.
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

    # Candidates from a source.
    function Offer-Values([string]$source, [string]$typed, [string]$head) {
        switch -Wildcard -CaseSensitive ($source) {
            '' { return }
            'files' { Offer-Paths $typed $head '*'; return }
            'folders' { Offer-Paths $typed $head 'ProviderContainer'; return }
            'commands' {
                $commands.GetEnumerator() | Where-Object { $_.Key -like ($typed -replace '[-_]') + '*' } |
                    Sort-Object Key | ForEach-Object { Offer $_.Value.name $_.Value.help }
                return
            }
            'columns' {
                # The last of several, such as a,b or a,-b.
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
                # An argument that is empty would be dropped by PowerShell before 7.3, hence the =.
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
        # Without its quotes, if it has some.
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.ToString() }
    })
    if (-not $words) { return }
    $program = if (Get-Command $words[0] -ErrorAction SilentlyContinue) { $words[0] } else { 'nsadmin' }
    $before = @($words | Select-Object -Skip 1)
    $places, $options, $columns, $command = @(), $families['front'], '', $null
    $given, $taken, $waiting = 0, @(), $null
    foreach ($word in $before) {
        if ($waiting) {
            $waiting = $null
        } elseif ($word -like '-?*') {
            $taken += ($word -split '=', 2)[0]
            if (-not $word.Contains('=')) { $waiting = Find-Flag $word $options }
        } elseif ($null -eq $command) {
            $command = $word
            $found = $commands[$word -replace '[-_]']
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


def script(shapes: Shapes) -> str:
    """For a profile."""
    families = {**shapes.families, "front": shapes.front}
    return _SCRIPT.replace("@CASES@", "\n".join(_case(shape) for shape in shapes.commands)).replace(
        "@FAMILIES@", "\n".join(_family(name, found) for name, found in families.items())
    )


def _case(shape: Shape) -> str:
    return (
        f"        '{shape.plain_name}' = @{{\n"
        f"            name = '{shape.name}'; family = '{shape.family}'; help = {_text(shape.help)}\n"
        f"            places = {_array(shape.places)}\n"
        f"            options = {_array(shape.options)}; columns = '{shape.choices}'\n"
        "        }"
    )


def _family(name: str, choices: Iterable[Choice]) -> str:
    return f"        '{name}' = {_array(choices)}"


def _array(choices: Iterable[Choice]) -> str:
    return "@(" + ", ".join(_text(f"{choice.spec} {choice.help}") for choice in choices) + ")"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
