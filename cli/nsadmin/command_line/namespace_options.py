"""Owns --namespace of the commands that read KV namespaces in addition to the order configurations."""

from typing import Annotated

from typer import Option

from nsadmin.command_line.declarations import Values

IncludedNamespacesOption = Annotated[
    list[str] | None,
    Option("-s", "--namespace", metavar="NAMESPACE", help="Include this KV namespace. Repeatable."),
    Values("namespaces"),
]
