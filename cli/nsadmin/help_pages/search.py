"""`nsadmin help WORDS`: finds errors, commands and guides by words, with the full-text search of SQLite."""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

from nsadmin.command_line import registry
from nsadmin.command_line.command_synonyms import COMMANDS_BY_SYNONYM, WRITTEN_WORDS
from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.registry import CommandEntry
from nsadmin.console.error_meanings import find_meanings
from nsadmin.console.guides import Guide, find_guides
from nsadmin.console.phrases import reading_width
from nsadmin.help_pages.command_page import example_lines
from nsadmin.help_pages.setting_examples import SETTING_COMMANDS, SETTING_EXAMPLES, read_setting_names
from nsadmin.help_pages.text_layout import format_list, join_sections, wrap_paragraph

_MOST = 6
_EXAMPLES_SHOWN = (2, 1, 1, 1)
"""Of the commands found, the best first."""
_WEIGHTS = {"names": 7, "summary": 5, "headings": 4, "text": 1}
_SAY_NOTHING = re.compile(
    "a|about|all|an|and|another|any|are|as|at|be|been|but|by|can|could|did|do|does|"
    "each|every|find|for|from|get|give|go|goes|got|had|has|have|he|her|here|how|i|if|"
    "in|into|is|it|its|just|let|list|made|make|many|me|might|most|much|must|my|need|no|say|says|tell|"
    "not|of|on|one|only|or|other|our|out|put|see|seem|seems|she|should|show|so|some|"
    "still|take|than|that|the|their|them|then|there|these|they|this|those|to|too|up|us|"
    "very|want|was|we|went|were|what|when|where|which|who|will|with|without|would|you"
)
"""Words of questions that say nothing about a page."""
_WORD = re.compile(r"\w+")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)
_QUOTED = re.compile(r'"([^"]+)"')
_PACKAGE_FOLDER = Path(__file__).parents[1]


def search_text(words: Sequence[str]) -> str | None:
    """Return the errors, commands and guides that match the words, the best first; None if there are none."""
    question = " ".join(words)
    with closing(sqlite3.connect(":memory:")) as database:
        examples = _fill(database)
        # Punctuation has a meaning in queries.
        settings = [word for word in _WORD.findall(question) if _CAMEL_HUMP.search(word)]
        all_terms = _WORD.findall(_split_name(question).lower())
        terms = [
            term for term in all_terms if not (_SAY_NOTHING.fullmatch(term) or term.isdigit())
        ] or all_terms
        concepts = [_same_words(database, term) for term in (*settings, *terms)]
        pairs = ["".join(pair) for pair in pairwise(all_terms)]
        concepts += [c for p in pairs if len(c := _same_words(database, p)) > 1 or p in COMMANDS_BY_SYNONYM]
        commands, guides = (_find(database, kind, concepts) for kind in ("command", "guide"))
    errors = [(f"nsadmin errors {m.code or m.name}", m.meaning) for m in find_meanings(question)[:_MOST]]
    if not (commands or guides or errors):
        return None
    width = reading_width()
    return join_sections(
        (
            wrap_paragraph(f'Found for "{question}", the best first:', width),
            ("Errors:", *format_list(errors, width)) if errors else (),
            *(
                (f"{name}: {summary}", *example_lines(_best_examples(examples[name], concepts)[:count]))
                for (name, summary), count in zip(commands, _EXAMPLES_SHOWN, strict=False)
            ),
            ("Also:", *format_list(others, width)) if (others := commands[len(_EXAMPLES_SHOWN) :]) else (),
            ("Guides:", *format_list(((f"nsadmin guide {name}", title) for name, title in guides[:3]), width))
            if guides
            else (),
            ("Help for one command: nsadmin COMMAND --help",) if commands else (),
        )
    )


def _fill(database: sqlite3.Connection) -> dict[str, list[CommandExample]]:
    """Create the tables of the search; return the examples of each command."""
    for kind in ("command", "guide"):
        database.execute(
            f"CREATE VIRTUAL TABLE {kind} USING fts5(name, names, summary, headings, text, tokenize=porter)"
        )
    database.execute("CREATE VIRTUAL TABLE word USING fts5(said, written, tokenize=porter)")
    database.executemany("INSERT INTO word VALUES (?, ?)", WRITTEN_WORDS)
    settings = read_setting_names() | {"": set()}
    examples = {}
    rows = []
    for entry in registry.COMMANDS:
        name = entry.typed_name
        signature, docstring = read_source(entry)
        paragraphs, own_examples = parse_docstring(docstring)
        examples[name] = [*own_examples, *SETTING_EXAMPLES.get(name, ())]
        synonyms = [synonym for synonym, commands in COMMANDS_BY_SYNONYM.items() if name in commands]
        names = " ".join((name, _split_name(name), *synonyms))
        headings = " ".join(
            (*(e.description for e in examples[name]), *settings[SETTING_COMMANDS.get(name, "")])
        )
        text = " ".join((*paragraphs, *_QUOTED.findall(signature)))
        rows.append((name, names, entry.help, headings, f"{text} {_split_name(text)}"))
    database.executemany("INSERT INTO command VALUES (?, ?, ?, ?, ?)", rows)
    database.executemany("INSERT INTO guide VALUES (?, ?, ?, ?, ?)", map(_guide_row, find_guides().values()))
    return examples


def read_source(entry: CommandEntry) -> tuple[str, str]:
    """The signature and the docstring of a command, from its source: importing all takes a second."""
    if entry.module_name.endswith("plain_checks"):
        function_name, path = "CHECK", f"operations/checks/{entry.function_name.removeprefix('check_')}"
    else:
        function_name, path = entry.function_name, f"commands/{entry.module_name.replace('.', '/')}"
    source = (_PACKAGE_FOLDER / f"{path}.py").read_text(encoding="utf-8")
    match = re.search(rf'^(?:def )?{function_name}(?: = Check)?\((.*?)"""(.*?)"""', source, re.M | re.S)
    return (match[1], cleandoc(match[2])) if match else ("", "")


def _same_words(database: sqlite3.Connection, term: str) -> list[str]:
    """The term, and the words that mean it in the documentation."""
    rows = database.execute("SELECT written FROM word WHERE word MATCH ?", (f'said: "{term}"',))
    return [term, *(word for (written,) in rows for word in written.split(", "))]


def _find(
    database: sqlite3.Connection, kind: str, concepts: Sequence[Sequence[str]]
) -> list[tuple[str, str]]:
    """The pages of a kind: each concept counts by its rarity, and once, in the best place that has it."""
    seen: list[dict[tuple[str, str], float]] = []
    for words in concepts:
        query = " OR ".join(f'"{word}"' for word in words)
        # The beginning of a word if there is no such word.
        hits = _weigh_hits(database, kind, query) or _weigh_hits(database, kind, f'"{words[0]}"*')
        # Consumer and consuming are one word.
        if hits not in seen:
            seen.append(hits)
    scores: Counter[tuple[str, str]] = Counter()
    for hits in seen:
        scores.update({page: weight / (3 + len(hits)) ** 0.5 for page, weight in hits.items()})
    return [page for page, _ in scores.most_common(_MOST)]


def _weigh_hits(database: sqlite3.Connection, kind: str, query: str) -> dict[tuple[str, str], float]:
    weights: dict[tuple[str, str], float] = {}
    for column, weight in _WEIGHTS.items():
        rows = database.execute(
            f"SELECT name, summary FROM {kind} WHERE {kind} MATCH ? ORDER BY rank", (f"{column}: ({query})",)
        )
        # Among equals, the first hit of a column is the best one.
        for place, page in enumerate(rows):
            weights.setdefault(page, weight - 0.001 * place)
    return weights


def _best_examples(
    examples: Sequence[CommandExample], concepts: Sequence[Sequence[str]]
) -> list[CommandExample]:
    """Sorted, the one that has most of the words first."""

    def count_concepts(example: CommandExample) -> int:
        # Without the name of the command, which all of them have.
        text = " ".join((example.description, *example.command_line.split()[2:])).lower()
        # An example with --force is no advice.
        return sum(
            (words[0].lower()[:5] in text) + any(w.lower()[:5] in text for w in words) for words in concepts
        ) - 9 * ("--force" in text)

    return sorted(examples, key=count_concepts, reverse=True)


def _guide_row(guide: Guide) -> tuple[str, ...]:
    text = guide.read_text()
    headings = " ".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("##"))
    return guide.name, guide.name.replace("-", " "), guide.title, headings, _FENCED.sub("", text)


def _split_name(name: str) -> str:
    """The words of a name: `topic Route`."""
    return _CAMEL_HUMP.sub(" ", name)
