"""The commands that the documentation shows, with the output that stands below them.

In a ```console block a command begins with `$ ` and its output follows. A ```sh block has commands only.
Comments before a block say how it is run:

- `<!-- not run: REASON -->`: only its command lines are parsed
- `<!-- before: COMMAND -->`: a command that readers do not see is run first
- `<!-- file: NAME -->`: the block is saved as a file
- `<!-- background -->`: the command goes on until the end of the page
- `<!-- any order -->`: the lines come in another order each time
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.name_servers import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
ELISION = "…"
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)")
_DIRECTIVE = re.compile(r"^ *<!-- (?P<name>not run|before|file|background|any order)(: (?P<value>.+))? -->$")
_INLINE = re.compile(r"`(nsadmin [^`]+)`")
_OPERATORS = {"&&", "||", "|", ";", "&", ">", ">>", "<", "2>", "2>>", "(", ")"}


@dataclass
class ShownCommand:
    """A command, the lines shown below it, and which lines of the page (from 0) these are."""

    command_line: str
    output_lines: list[str]
    first_output_line: int
    has_output: bool

    @property
    def last_output_line(self) -> int:
        return self.first_output_line + len(self.output_lines)


@dataclass
class Block:
    """One fenced block of a page, with the comments that stand before it."""

    page: Path
    first_line: int
    language: str
    indent: str
    lines: list[str] = field(default_factory=list)
    not_run: str | None = None
    before: list[str] = field(default_factory=list)
    file_name: str | None = None
    is_background: bool = False
    is_unordered: bool = False

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.first_line}"

    def list_commands(self) -> list[ShownCommand]:
        """The commands of the block; a `\\` at the end of a line goes on with the next."""
        commands: list[ShownCommand] = []
        is_open = False
        for offset, line in enumerate(self.lines):
            number = self.first_line + offset
            if is_open:
                commands[-1].command_line += "\n" + line.removeprefix("> ")
                commands[-1].first_output_line = number + 1
                is_open = line.endswith("\\")
            elif self.language == "sh" and line and not line.startswith("#"):
                commands.append(ShownCommand(line, [], number + 1, has_output=False))
                is_open = line.endswith("\\")
            elif self.language == "console" and line.startswith("$ "):
                commands.append(ShownCommand(line[2:], [], number + 1, has_output=True))
                is_open = line.endswith("\\")
            elif self.language == "console" and commands:
                commands[-1].output_lines.append(line)
        return commands


def read_blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    blocks: list[Block] = []
    directives: list[tuple[str, str]] = []
    block: Block | None = None
    for number, line in enumerate(page.read_text("utf-8").splitlines()):
        fence = _FENCE.match(line)
        if block is not None and fence and line.strip() == "```":
            blocks.append(block)
            block, directives = None, []
        elif block is not None:
            block.lines.append(line.removeprefix(block.indent))
        elif fence:
            block = Block(page, number + 1, fence["language"], fence["indent"])
            _apply_directives(block, directives)
        elif directive := _DIRECTIVE.match(line):
            directives.append((directive["name"], directive["value"] or ""))
    return blocks


def _apply_directives(block: Block, directives: Sequence[tuple[str, str]]) -> None:
    for name, value in directives:
        if name == "not run":
            block.not_run = value
        elif name == "before":
            block.before.append(value)
        elif name == "file":
            block.file_name = value
        elif name == "any order":
            block.is_unordered = True
        else:
            block.is_background = True


def list_inline_commands(page: Path) -> Iterator[str]:
    """The command lines that stand in running text and tables."""
    in_block = False
    for line in page.read_text("utf-8").splitlines():
        if _FENCE.match(line):
            in_block = not in_block
        elif not in_block:
            yield from _INLINE.findall(line.replace("\\|", "|"))


def find_nsadmin_words(command_line: str) -> list[list[str]]:
    """The words of each `nsadmin` command of a shell line, without `nsadmin` itself."""
    lexer = shlex.shlex(command_line.replace("\\\n", " "), posix=True, punctuation_chars=";&|<>()")
    lexer.commenters = ""
    lexer.whitespace_split = True
    commands: list[list[str]] = []
    words: list[str] | None = None
    is_command_next = True
    for word in lexer:
        if word.startswith("#"):
            break
        if word in _OPERATORS:
            words, is_command_next = None, True
        elif words is not None:
            words.append(word)
        elif is_command_next and word == "nsadmin":
            words = []
            commands.append(words)
        # A variable may be set for the command.
        is_command_next = is_command_next and (word in _OPERATORS or "=" in word)
    return commands


_VARIABLE_TEXTS = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:[\d.]+)?Z"), "TIME"),
    (re.compile(r"\b\d{16}-\d{8}T\d{9}Z"), "SEGMENT"),
    (re.compile(r"127\.0\.0\.1:[2-6]\d{4}\b"), "CLIENT"),
    (re.compile(r"\b(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{16,32}\b"), "HASH"),
    (re.compile(r"(?<=-)\d{6,}\b"), "#"),
    (re.compile(r"(?<=the slowest slave is )\S+:\d+"), "SLAVE"),
    (re.compile(r"(?<![\w.:/@-])-?\d[\d,]*(\.\d+)?(?![\w:-])"), "#"),
    (re.compile(r"# (ms|s|min|h|d|B|KiB|MiB|GiB)\b"), "#"),
    (re.compile(r"\s+"), " "),
)


def normalise_line(line: str) -> str:
    """A line without what differs from run to run: times, ports of clients, hashes, numbers and widths."""
    for pattern, replacement in _VARIABLE_TEXTS:
        line = pattern.sub(replacement, line)
    return line.strip()


def find_difference(shown: Sequence[str], printed: Sequence[str], is_unordered: bool = False) -> str | None:
    """Return the first shown line that was not printed where it should be; None if all were.

    A line `…` stands for any number of lines, and `…` in a line for any text.
    """
    actual = [normalise_line(line) for line in printed if line.strip()]
    if is_unordered:
        missing = (line for line in shown if line.strip() not in ("", ELISION))
        return next((line for line in missing if normalise_line(line) not in actual), None)
    at, may_skip = 0, False
    for line in shown:
        if not line.strip():
            continue
        if line.strip() == ELISION:
            may_skip = True
            continue
        pattern = re.compile(".*".join(map(re.escape, normalise_line(line).split(ELISION))))
        while may_skip and at < len(actual) and not pattern.fullmatch(actual[at]):
            at += 1
        if at == len(actual) or not pattern.fullmatch(actual[at]):
            return line
        at, may_skip = at + 1, False
    return None if may_skip or at == len(actual) else f"(nothing more; printed: {actual[at]})"
