"""`nsadmin help WORDS`: finds errors, commands and guides by words, with the full-text search of SQLite."""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from heapq import nlargest
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
_WEIGHTS = {"names": 7, "summary": 4, "headings": 3, "text": 1.5}
_RARITY = 0.35
"""0: a rare word counts as much as a frequent one."""
_MEANT = 0.7
"""The weight of a word that means the word asked."""
_SAY_NOTHING = re.compile(
    "a|about|all|an|and|another|any|are|as|at|be|been|but|by|can|could|did|do|does|"
    "each|every|find|for|from|get|give|go|goes|got|had|has|have|he|her|here|how|i|if|"
    "in|into|is|it|its|just|let|list|many|me|might|most|much|must|my|need|no|say|says|tell|"
    "not|of|on|one|only|or|other|our|out|put|see|seem|seems|she|should|show|so|some|"
    "still|take|than|that|the|their|them|then|there|these|they|this|those|to|too|up|us|"
    "actually|doing|now|please|really|right|somebody|someone|x|y|"
    "very|want|was|we|went|were|what|when|where|which|who|will|with|without|would|you"
)
"""Words of questions that say nothing about a page."""
_EMPTY_WORDS = frozenset(_SAY_NOTHING.pattern.split("|"))
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.:]) ")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)
_DOCSTRING = re.compile(r'\((.*?)"""(.*?)"""', re.S)
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
        database.execute(
            f"CREATE VIRTUAL TABLE {kind}_phrase USING fts5(text, name UNINDEXED, summary UNINDEXED, "
            "weight UNINDEXED, tokenize=porter, columnsize=0)"
        )
    database.execute("CREATE VIRTUAL TABLE word USING fts5(said, written, tokenize=porter)")
    database.executemany("INSERT INTO word VALUES (?, ?)", WRITTEN_WORDS)
    settings = read_setting_names() | {"": set()}
    questions = _read_questions()
    examples = {}
    rows = []
    phrases = []
    synonyms = defaultdict(list)
    for synonym, commands in COMMANDS_BY_SYNONYM.items():
        for name in commands:
            synonyms[name].append(synonym)
    for entry in registry.COMMANDS:
        name = entry.typed_name
        signature, docstring = read_source(entry)
        paragraphs, own_examples = parse_docstring(docstring)
        examples[name] = [*own_examples, *SETTING_EXAMPLES.get(name, ())]
        names = " ".join((name, _split_name(name), *synonyms[name]))
        headings = " ".join(
            (
                *(e.description for e in examples[name]),
                *questions[name],
                *settings[SETTING_COMMANDS.get(name, "")],
            )
        )
        text = " ".join((*paragraphs, *_QUOTED.findall(signature)))
        rows.append((name, names, entry.help, headings, f"{text} {_split_name(text)}"))
        sentences = (s for p in paragraphs for s in _SENTENCE_END.split(p))
        phrases += [
            (phrase, name, entry.help, weight * _weigh_word(phrase))
            for weight, texts in (
                (4, (_split_name(name), *sentences)),
                (6, (entry.help, *(e.description for e in examples[name]))),
                (9, questions[name]),
            )
            for phrase in texts
        ]
    database.executemany("INSERT INTO command VALUES (?, ?, ?, ?, ?)", rows)
    database.executemany("INSERT INTO command_phrase VALUES (?, ?, ?, ?)", phrases)
    guides = [_guide_row(guide, questions) for guide in find_guides().values()]
    database.executemany("INSERT INTO guide VALUES (?, ?, ?, ?, ?)", guides)
    database.executemany(
        "INSERT INTO guide_phrase VALUES (?, ?, ?, ?)",
        (
            (phrase, name, title, 8 * _weigh_word(phrase))
            for name, _, title, headings, _ in guides
            for phrase in (title, *headings.splitlines())
        ),
    )
    return examples


def _read_questions() -> defaultdict[str, list[str]]:
    """What operators ask, in their words, by the command or guide:NAME that answers."""
    questions: defaultdict[str, list[str]] = defaultdict(list)
    for line in (_PACKAGE_FOLDER / "help_pages/questions.txt").read_text(encoding="utf-8").splitlines():
        pages, _, phrases = line.partition(": ")
        for page in pages.split(", "):
            questions[page] += phrases.split("; ")
    return questions


def _weigh_word(phrase: str) -> float:
    """A word of a short phrase says more about it."""
    return float((2 + len(set(_WORD.findall(phrase.lower())) - _EMPTY_WORDS)) ** -0.7)


def read_source(entry: CommandEntry) -> tuple[str, str]:
    """The signature and the docstring of a command, from its source: importing all takes a second."""
    if entry.module_name.endswith("plain_checks"):
        function_name, path = "CHECK", f"operations/checks/{entry.function_name.removeprefix('check_')}"
    else:
        function_name, path = entry.function_name, f"commands/{entry.module_name.replace('.', '/')}"
    source = _read_module(path)
    start = max(source.find(f"\n{head}(") for head in (f"def {function_name}", f"{function_name} = Check"))
    match = _DOCSTRING.search(source, start) if start >= 0 else None
    return (match[1], cleandoc(match[2])) if match else ("", "")


@cache
def _read_module(path: str) -> str:
    return "\n" + (_PACKAGE_FOLDER / f"{path}.py").read_text(encoding="utf-8")


def _same_words(database: sqlite3.Connection, term: str) -> list[str]:
    """The term, and the words that mean it in the documentation."""
    rows = database.execute("SELECT said, written FROM word WHERE word MATCH ?", (f'said: "{term}"',))
    return [term, *(word for said, written in rows for word in (*said.split(), *written.split(", ")))]


def _find(
    database: sqlite3.Connection, kind: str, concepts: Sequence[Sequence[str]]
) -> list[tuple[str, str]]:
    """The pages of a kind.

    A concept counts by its rarity, once, in the best place of a page that has it. The two best phrases of a
    page count on top, by the part of them that is asked.
    """
    seen: list[dict[tuple[str, str], float]] = []
    scores: Counter[tuple[str, str]] = Counter()
    phrases: dict[tuple[str, str, float, int], list[float]] = defaultdict(list)
    for words in concepts:
        said = f'"{words[0]}"'
        query = " OR ".join(f'"{word}"' for word in words)
        hits = _weigh_hits(database, kind, query)
        if not hits:
            # The beginning of a word if there is no such word.
            said = query = f"{said}*"
            hits = _weigh_hits(database, kind, query)
        # Consumer and consuming are one word; two words on one page may be two.
        if len(hits) > 1 and hits in seen:
            continue
        seen.append(hits)
        rarity = (6 + len(hits)) ** -_RARITY
        said_hits = hits if said == query else _weigh_hits(database, kind, said)
        for page, weight in hits.items():
            scores[page] += rarity * max(said_hits.get(page, 0), _MEANT * weight)
        found_phrases = _find_phrases(database, kind, query)
        said_phrases = set(found_phrases if said == query else _find_phrases(database, kind, said))
        for phrase in found_phrases:
            phrases[phrase].append(rarity * (1 if phrase in said_phrases else _MEANT))
    matches = defaultdict(list)
    for (name, summary, weight, _), found in phrases.items():
        matches[name, summary].append(weight * sum(found) * len(found) ** 0.7)
    for page, phrase_scores in matches.items():
        best, *second = nlargest(2, phrase_scores)
        scores[page] += best + 0.4 * sum(second)
    return [page for page, _ in scores.most_common(_MOST)]


def _find_phrases(database: sqlite3.Connection, kind: str, query: str) -> list[tuple[str, str, float, int]]:
    """The phrases with the words: page, summary, weight and number."""
    return database.execute(
        f"SELECT name, summary, weight, rowid FROM {kind}_phrase WHERE {kind}_phrase MATCH ?", (query,)
    ).fetchall()


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
        return sum(
            (words[0].lower()[:5] in text) + any(w.lower()[:5] in text for w in words) for words in concepts
        )

    # An example with --force is no advice.
    return sorted((e for e in examples if "--force" not in e.command_line), key=count_concepts, reverse=True)


def _guide_row(guide: Guide, questions: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    text = guide.read_text()
    headings = "\n".join(
        (
            *(line.lstrip("# ") for line in text.splitlines() if line.startswith("##")),
            *questions[f"guide:{guide.name}"],
        )
    )
    return guide.name, guide.name.replace("-", " "), guide.title, headings, _FENCED.sub("", text)


def _split_name(name: str) -> str:
    """The words of a name: `topic Route`."""
    return _CAMEL_HUMP.sub(" ", name)
