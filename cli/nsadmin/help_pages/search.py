"""`nsadmin help WORDS`: finds errors, commands and guides by words, with the full-text search of SQLite."""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise

from nsadmin.command_line import registry
from nsadmin.command_line.command_synonyms import COMMANDS_BY_SYNONYM
from nsadmin.command_line.declarations import command_parameters, declaration_of
from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.registry import CommandEntry
from nsadmin.console.error_meanings import find_meanings
from nsadmin.console.guides import Guide, find_guides
from nsadmin.console.phrases import reading_width
from nsadmin.help_pages.command_page import example_section
from nsadmin.help_pages.text_layout import format_list, join_sections, wrap_paragraph

_MOST = 6
_WEIGHTS = {"text": 1, "summary": 5, "names": 7}
_MIN_PREFIX = 4
"""Shorter words are the beginning of too many others: who is that of whoami."""
_EVERYWHERE = re.compile(
    "an?|the|of|for|to|with|without|is|are|was|do|does|did|when|what|which|how|make|my|i|in|on|by|from|if"
    "|can|all|another|each|it|and|or|where|find|see|show|list|get|only|go|goes|went|has|have|be|should"
    "|want|need|this|that|seem|seems|at|one|must|who",
    re.IGNORECASE,
)
"""Words of questions that say nothing about a page."""
_WORD = re.compile(r"\w+")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)


def search_text(words: Sequence[str]) -> str | None:
    """Return the errors, commands and guides that match the words, the best first; None if there are none."""
    question = " ".join(words)
    # Punctuation has a meaning in queries.
    all_terms = [term for word in words for term in _WORD.findall(_split_name(word))]
    terms = [term for term in all_terms if not _EVERYWHERE.fullmatch(term)] or all_terms
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE page USING fts5(kind, term, names, summary, text, tokenize=porter)"
        )
        rows = [*map(_command_row, registry.COMMANDS), *map(_guide_row, find_guides().values())]
        database.executemany("INSERT INTO page VALUES (?, ?, ?, ?, ?)", rows)
        heads = "SELECT 1 FROM page WHERE kind = 'command' AND page MATCH ?"
        if not all(database.execute(heads, (_query("names summary", term),)).fetchone() for term in terms):
            # Loads all commands, which takes most of the time of a search.
            texts = ((_command_text(entry), entry.typed_name) for entry in registry.COMMANDS)
            database.executemany("UPDATE page SET text = ? WHERE kind = 'command' AND term = ?", texts)
        pairs = ["".join(pair) for pair in (*pairwise(all_terms), *pairwise(terms))]
        commands, guides = (_find(database, [*terms, *pairs], kind) for kind in ("command", "guide"))
    errors = [(f"nsadmin errors {m.code or m.name}", m.meaning) for m in find_meanings(question)[:_MOST]]
    if not (commands or guides or errors):
        return None
    width = reading_width()
    return join_sections(
        (
            wrap_paragraph(f'Found for "{question}", the best first:', width),
            ("Errors:", *format_list(errors, width)) if errors else (),
            ("Commands:", *format_list(commands, width)) if commands else (),
            example_section([e for name, _ in commands[:2] for e in _best_example(name, terms)]),
            ("Guides:", *format_list(((f"nsadmin guide {name}", title) for name, title in guides), width))
            if guides
            else (),
            ("Help for one command: nsadmin COMMAND --help",) if commands else (),
        )
    )


def _best_example(typed_name: str, terms: Sequence[str]) -> list[CommandExample]:
    """The example of the command whose description has most of the words."""
    entry = registry.take_command(typed_name.split())[0]
    examples = parse_docstring(entry.load_function()).examples if entry else []

    def count_terms(example: CommandExample) -> int:
        text = f"{example.description} {example.command_line}".lower()
        # An example with --force is no advice.
        return sum(term.lower()[:5] in text for term in terms) - 9 * ("--force" in text)

    return [max(examples, key=count_terms)] if examples else []


def _find(database: sqlite3.Connection, terms: Sequence[str], kind: str) -> list[tuple[str, str]]:
    """The pages of a kind: each term counts by its rarity, and once, in the best place that has it."""
    scores: Counter[tuple[str, str]] = Counter()
    hits_of_terms: list[set[tuple[str, str]]] = []
    for term in terms:
        weights: dict[tuple[str, str], float] = {}
        for column, weight in _WEIGHTS.items():
            rows = database.execute(
                "SELECT term, summary FROM page WHERE page MATCH ? AND kind = ? ORDER BY rank",
                (_query(column, term), kind),
            )
            # Among equals, the first hit of a column is the best one.
            weights |= {page: weight - 0.001 * place for place, page in enumerate(rows)}
        # Consumer and consuming are one word.
        if weights.keys() in hits_of_terms:
            continue
        hits_of_terms.append(set(weights))
        rarity = 1 / (3 + len(weights)) ** 0.5
        scores.update({page: weight * rarity for page, weight in weights.items()})
    return [page for page, _ in scores.most_common(_MOST)]


def _query(columns: str, term: str) -> str:
    return f'{{{columns}}}: "{term}"{"*" * (len(term) >= _MIN_PREFIX)}'


def _command_row(entry: CommandEntry) -> tuple[str, ...]:
    synonyms = [synonym for synonym, names in COMMANDS_BY_SYNONYM.items() if entry.typed_name in names]
    names = f"{entry.typed_name} {_split_name(entry.typed_name)} {' '.join(synonyms)}"
    return "command", entry.typed_name, names, entry.help, ""


def _command_text(entry: CommandEntry) -> str:
    function = entry.load_function()
    docstring = parse_docstring(function)
    return "\n".join(
        (
            *docstring.paragraphs,
            *(example.description for example in docstring.examples),
            *(f"{' '.join(p.flag_names)} {p.help}" for p in command_parameters(function)),
            *(
                f"{_split_name(key)} {meaning}"
                for key, meaning in declaration_of(function).column_meanings.items()
            ),
        )
    )


def _guide_row(guide: Guide) -> tuple[str, ...]:
    text = guide.read_text()
    headings = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("## "))
    return (
        "guide",
        guide.name,
        f"{guide.name.replace('-', ' ')} {headings}",
        guide.title,
        _FENCED.sub("", text),
    )


def _split_name(name: str) -> str:
    """The words of a name: `topic Route`."""
    return _CAMEL_HUMP.sub(" ", name)
