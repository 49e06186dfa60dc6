"""The live terminal screen of `nsadmin tui`. Only this package imports Textual."""
