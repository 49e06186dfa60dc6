"""The passages of prose in Markdown pages and in Python sources, each with the line on which it begins."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

FEWEST_WORDS = 3  # Shorter strings are keys, names and options more often than sentences.
PLACEHOLDER = "CODE"  # Stands for inline code, and for the values of an f-string.

# A program writes the text between `<!-- figures -->` and `<!-- end of figures -->`.
_GENERATED_BEGIN = re.compile(r"<!-- (?!end of )(\w+) -->")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?) \w+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_DOCSTRING_ITEM = re.compile(r"\s*(?:[-*+] |[*\w.]+(?: \([^)]*\))?: |\w+:$)")
_EXAMPLE_LINE = re.compile(r"\s*(?:\$ |>>> |\.\.\. |nsadmin )")
# Calls whose strings are code: patterns, paths, names and statements.
_CODE_CALLS = {"compile", "fullmatch", "match", "search", "sub", "finditer", "sql", "getenv", "expr", "query"}
_CODE_TEXT = re.compile(
    r"\b(?:SELECT|INSERT INTO|CREATE (?:TABLE|OR)|FROM \w+ WHERE)\b|::|=>|\bdef \w+\(|\$\{|\w+\(\)|;\n|</\w+>"
    r"|\bset -l\b"
)
_WORD = re.compile(r"[A-Za-z][a-z']*")


class Passage(NamedTuple):
    """A paragraph, list item, table cell, heading, string or comment.

    `lines` has its text by line, so that a finding can name the line. `first_line` numbers the first of them.
    """

    path: str
    first_line: int
    lines: tuple[str, ...]
    kind: str


def clean_markdown(line: str) -> str:
    """Replace inline code, and remove the targets of links and the marks of emphasis."""
    line = re.sub(r"(`+).+?\1", PLACEHOLDER, line)
    line = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", line)
    line = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", line)
    line = re.sub(r"<(?:https?:[^>]*|/?\w[^>]*)>|\{[#.:][^}]*\}|https?://\S+", "", line)
    return re.sub(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", line)


def read_markdown(path: str, text: str) -> Iterator[Passage]:
    """Yield the prose of a page, without code blocks, front matter and generated tables."""
    block: list[str] = []
    block_line = 0
    is_code = False
    generated_end = ""

    def take_block(kind: str = "paragraph") -> Iterator[Passage]:
        if block:
            joined = clean_markdown("\n".join(block))
            yield Passage(path, block_line, tuple(joined.split("\n")), kind)
            block.clear()

    for number, line in enumerate(_without_front_matter(text), 1):
        if generated_end:
            generated_end = "" if generated_end in line else generated_end
            continue
        if _FENCE.match(line):
            yield from take_block()
            is_code = not is_code
            continue
        if is_code:
            continue
        if marker := _GENERATED_BEGIN.search(line):
            yield from take_block()
            generated_end = f"<!-- end of {marker[1]} -->"
        elif not line.strip() or line.lstrip().startswith("<!--") or _ADMONITION.match(line.strip()):
            yield from take_block()
        elif line.startswith("#"):
            yield from take_block()
            yield Passage(path, number, (clean_markdown(line.lstrip("# ")),), "heading")
        elif line.lstrip().startswith("|"):
            yield from take_block()
            cells = clean_markdown(line).replace("\\|", "/").strip().strip("|").split("|")
            for cell in cells:
                if re.search("[A-Za-z]", cell):
                    yield Passage(path, number, (cell.strip(),), "cell")
        else:
            if _LIST_ITEM.match(line):
                yield from take_block()
                line = _LIST_ITEM.sub("", line, count=1)
            if not block:
                block_line = number
            block.append(line.strip().lstrip("> "))
    yield from take_block()


def _without_front_matter(text: str) -> list[str]:
    lines = text.splitlines()
    if lines and lines[0] == "---" and "---" in lines[1:]:
        end = lines.index("---", 1)
        return [""] * (end + 1) + lines[end + 1 :]
    return lines


def read_python(
    path: str, text: str, with_docstrings: bool, with_comments: bool = False
) -> Iterator[Passage]:
    """Yield the strings of a module that are sentences.

    Docstrings are among them if they are published (`with_docstrings`), or together with the comments.
    """
    tree = ast.parse(text)
    docstrings = _find_docstrings(tree)
    code_strings = _find_code_strings(tree)
    for string, is_public in docstrings.items():
        if with_comments or (with_docstrings and is_public):
            yield from _read_docstring(path, string)
    for node in _top_strings(tree):
        if node not in docstrings and node not in code_strings:
            joined = _string_text(node)
            if isinstance(node, ast.Constant) and "\n    Examples:\n" in joined:
                # The help of a check is a docstring that is no statement.
                yield from _read_docstring(path, node)
            elif is_sentence(joined):
                yield Passage(path, node.lineno, tuple(joined.split("\n")), "string")
    if with_comments:
        yield from _read_comments(path, text)


def _find_docstrings(tree: ast.Module) -> dict[ast.Constant, bool]:
    """Find the strings that are statements, and whether each is in a public class or function."""
    docstrings: dict[ast.Constant, bool] = {}
    for node in ast.walk(tree):
        is_public = not isinstance(node, ast.Module) and not (getattr(node, "name", None) or "").startswith(
            "_"
        )
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", []), list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings[statement.value] = is_public
    return docstrings


def is_sentence(text: str) -> bool:
    if _CODE_TEXT.search(text):
        return False
    tokens = text.replace(PLACEHOLDER, " ").split()
    words = [token for token in tokens if _WORD.fullmatch(token.strip(".,;:!?()'\"“”"))]
    return len(words) >= FEWEST_WORDS and len(words) >= 0.5 * len(tokens)


def _find_code_strings(tree: ast.Module) -> set[ast.AST]:
    code_strings: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in _CODE_CALLS:
                code_strings.update(node.args)
    return code_strings


def _top_strings(node: ast.AST) -> Iterator[ast.Constant | ast.JoinedStr]:
    """Yield strings, and the strings inside the placeholders of an f-string as strings of their own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant):
            if isinstance(child.value, str):
                yield child
        elif isinstance(child, ast.JoinedStr):
            yield child
            for value in child.values:
                if isinstance(value, ast.FormattedValue):
                    yield from _top_strings(value.value)
        else:
            yield from _top_strings(child)


def _string_text(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return re.sub(r"`[^`]+`", PLACEHOLDER, str(node.value))
    parts = [str(value.value) if isinstance(value, ast.Constant) else PLACEHOLDER for value in node.values]
    return re.sub(r"`[^`]+`", PLACEHOLDER, "".join(parts))


def _read_docstring(path: str, node: ast.Constant) -> Iterator[Passage]:
    block: list[str] = []
    block_line = node.lineno
    for offset, line in enumerate([*str(node.value).splitlines(), ""]):
        is_item = _DOCSTRING_ITEM.match(line) is not None
        if block and (is_item or not line.strip() or _EXAMPLE_LINE.match(line)):
            joined = re.sub(r"`[^`]+`", PLACEHOLDER, "\n".join(block))
            yield Passage(path, block_line, tuple(joined.split("\n")), "docstring")
            block = []
        if line.strip() and not _EXAMPLE_LINE.match(line):
            if not block:
                block_line = node.lineno + offset
            block.append(line.strip().removeprefix("- "))


def _read_comments(path: str, text: str) -> Iterator[Passage]:
    block: list[str] = []
    block_line = last_line = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if block and token.start[0] != last_line + 1:
            yield Passage(path, block_line, tuple(block), "comment")
            block = []
        if not block:
            block_line = token.start[0]
        last_line = token.start[0]
        block.append(re.sub(r"`[^`]+`", PLACEHOLDER, token.string.lstrip("#! ")))
    if block:
        yield Passage(path, block_line, tuple(block), "comment")
