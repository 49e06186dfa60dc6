"""The records of commands and of the headings that they have in help and documentation."""

import re
from typing import Literal, NamedTuple

CommandKind = Literal["read", "change", "delete", "mixed", "local", "check", "batch", "screen", "program"]


class CommandCategory(NamedTuple):
    """A heading of help and documentation; `nsadmin help topics` prints the one with the handle `topics`."""

    handle: str
    title: str
    help: str


class CommandEntry(NamedTuple):
    """One command.

    `name` is the machine name, such as `kvGet`: audit records and JSON contain it, and it is accepted as an
    alias. `category` is the heading in help and documentation. `group` is the first word of a two-word
    command, "" for all others.

    `kind` says what the command does to servers: the effect of "change" can be undone, that of "delete"
    cannot. "local" sends no request. "mixed" reads or changes, depending on its arguments, and calls
    `Session.require_writable` itself before it changes. A "check" reads, and its exit codes are those of
    monitoring plugins. "batch" runs other commands. A "screen" occupies the whole terminal. A "program"
    parses its own arguments.
    """

    name: str
    module_name: str
    category: CommandCategory
    kind: CommandKind
    help: str
    group: str = ""

    @property
    def typed_name(self) -> str:
        """The name as help and documentation write it: `kv get`, `topicRoute`."""
        return f"{self.group} {self.member_name}" if self.group else self.name

    @property
    def member_name(self) -> str:
        """The word after the group's name: the `get` of `kv get`."""
        member_name = self.name[len(self.group) :]
        return member_name[:1].lower() + member_name[1:]

    @property
    def may_change(self) -> bool:
        return self.kind in ("change", "delete", "mixed")

    @property
    def function_name(self) -> str:
        """The name of the command's function: topic_route for topicRoute."""
        return re.sub(r"(?<=[a-z])([A-Z]+)", r"_\1", self.name).lower()
