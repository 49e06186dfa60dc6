"""The texts of `nsadmin help`: overview, lists of commands, shared pages, the page of each command."""
