"""Owns --namespace of the commands that read KV namespaces in addition to the order configurations."""

from typing import Annotated

from nsadmin.command_line.declarations import Option

IncludedNamespacesOption = Annotated[
    list[str] | None,
    Option(
        "-s",
        "--namespace",
        metavar="NAMESPACE",
        help="Include this KV namespace. Repeatable.",
        value_source="namespaces",
    ),
]
