# PowerShell completion for nsadmin, for PowerShell 5.1 and later. In $PROFILE:
# nsadmin completion powershell | Out-String | Invoke-Expression
# nsadmin finds what can replace the last word: a line for each value, with a description behind a tab.

Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    function Offer([string]$value, [string]$text) {
        if (-not $text) { $text = $value }
        $full = $value
        # Quote values with special characters. Typographic quotes also end a text, so double each of them.
        if ($full -match '[^\w\-./:=+]') {
            $full = "'" + ($full -replace '[''\u2018-\u201b]', '$0$0') + "'"
        }
        [System.Management.Automation.CompletionResult]::new($full, $value, 'ParameterValue', $text)
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
    $before = @($words | Select-Object -Skip 1 | ForEach-Object {
        # A word that is a variable, such as $env:PROD, is replaced by its value.
        if ($_ -match '^\$env:(\w+)$') { [Environment]::GetEnvironmentVariable($Matches[1]) } else { $_ }
    })
    # PowerShell before 7.3 drops empty arguments, so an empty word is passed as two quotation marks.
    $last = if ($typed) { $typed } else { '""' }
    if ($PSVersionTable.PSVersion -ge [version]'7.3') { $last = $typed }
    $env:_NSADMIN_COMPLETE = '1'
    try { $lines = @(& $program @before $last 2>$null) }
    finally { Remove-Item Env:_NSADMIN_COMPLETE }
    foreach ($line in $lines) {
        $value, $text = $line -split "`t", 2
        if ($text -in ':files', ':folders') {
            $head = if ($value -match '^--[^=]*=') { $Matches[0] } else { '' }
            $kind = if ($text -eq ':files') { '*' } else { 'ProviderContainer' }
            [System.Management.Automation.CompletionCompleters]::CompleteFilename($value.Substring($head.Length)) |
                Where-Object { "$($_.ResultType)" -like $kind } |
                ForEach-Object { if ($head) { Offer "$head$($_.CompletionText)" $_.ToolTip } else { $_ } }
        }
        else { Offer $value $text }
    }
}
