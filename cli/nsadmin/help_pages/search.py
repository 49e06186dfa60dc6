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
from typing import NamedTuple

from nsadmin.command_line import registry
from nsadmin.command_line.command_synonyms import COMMANDS_BY_SYNONYM, WRITTEN_WORDS
from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.command_line.registry import CommandEntry
from nsadmin.console.error_meanings import find_meanings
from nsadmin.console.guides import Guide, find_guides
from nsadmin.console.phrases import reading_width
from nsadmin.help_pages.command_page import example_lines
from nsadmin.help_pages.setting_names import SETTING_COMMANDS, read_setting_names
from nsadmin.help_pages.text_layout import format_list, join_sections, wrap_paragraph

_MOST = 8
_EXAMPLES_SHOWN = (4, 3, 2, 2, 1, 1)
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
    "command|still|such|take|than|that|the|their|them|then|there|these|they|this|those|to|too|up|us|"
    "actually|doing|now|please|really|right|somebody|someone|x|y|"
    "very|want|was|we|went|were|what|when|where|which|who|will|with|without|would|you"
)
"""Words of questions that say nothing about a page."""
_EMPTY_WORDS = frozenset(_SAY_NOTHING.pattern.split("|"))
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.:]) ")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OF_THE_LIBRARY = re.compile(r"\b(python|pandas|jupyter|notebook|asyncio|library)\b", re.I)
"""A guide has the answer to such a question, not commands."""
_LIBRARY_GUIDE = "write-scripts"
_FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)
_PYTHON_SCRIPT = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
_DOCSTRING = re.compile(r'\((.*?)"""(.*?)"""', re.S)
_QUOTED = re.compile(r'"([^"]+)"')
_PACKAGE_FOLDER = Path(__file__).parents[1]


class Answer(NamedTuple):
    """A line of questions.txt: a command or guide:NAME, an example of the command, and what it answers."""

    page: str
    example: CommandExample | None
    questions: list[str]


class Hit(NamedTuple):
    """A command or guide that was found, and the command's examples for the question, the best first."""

    name: str
    summary: str
    examples: list[CommandExample]


def search_text(words: Sequence[str]) -> str | None:
    """Return the errors, commands and guides that match the words, the best first; None if there are none."""
    question = " ".join(words)
    with closing(sqlite3.connect(":memory:")) as database:
        examples = _fill(database)
        # Punctuation has a meaning in queries.
        settings = [word for word in _WORD.findall(question) if _CAMEL_HUMP.search(word)]
        all_terms = _WORD.findall(_split_name(question).lower())
        terms = [term for term in all_terms if not (_SAY_NOTHING.fullmatch(term) or term.isdigit())] or (
            [] if settings else all_terms
        )
        concepts = [_same_words(database, term) for term in (*settings, *terms)]
        pairs = ["".join(pair) for pair in pairwise(all_terms)]
        concepts += [c for p in pairs if len(c := _same_words(database, p)) > 1 or p in COMMANDS_BY_SYNONYM]
        commands, guides = (_find(database, kind, concepts, examples) for kind in ("command", "guide"))
    errors = [(f"nsadmin errors {m.code or m.name}", m.meaning) for m in find_meanings(question)[:_MOST]]
    if not (commands or guides or errors):
        return None
    width = reading_width()
    command_sections = (
        *(
            (f"{hit.name}: {hit.summary}", *example_lines(hit.examples[:count]))
            for hit, count in zip(commands, _EXAMPLES_SHOWN, strict=False)
        ),
        ("Also:", *format_list(((hit.name, hit.summary) for hit in others), width))
        if (others := commands[len(_EXAMPLES_SHOWN) :])
        else (),
    )
    guide_lines = format_list(((f"nsadmin guide {hit.name}", hit.summary) for hit in guides[:3]), width)
    guide_section = ("Guides:", *guide_lines) if guides else ()
    is_of_library = _OF_THE_LIBRARY.search(question) is not None
    guide_sections = [guide_section]
    if is_of_library and (
        script := _PYTHON_SCRIPT.search(guide := find_guides()[_LIBRARY_GUIDE].read_text())
    ):
        script_lines = (f"  {line}".rstrip() for line in script[1].splitlines())
        guide_sections.append((f"The first script of nsadmin guide {_LIBRARY_GUIDE}:", *script_lines))
        method_lines = [
            f"  {command}: {method.replace('`', '')}"
            for hit in commands
            for command, method in _read_methods(guide)
            if f"{command} ".startswith(f"{hit.name} ")
        ]
        guide_sections.append(
            ("Methods (a ServerResult is what one server answered: addr, result, error):", *method_lines)
            if method_lines
            else ()
        )
    return join_sections(
        (
            wrap_paragraph(f'Found for "{question}", the best first:', width),
            ("Errors:", *format_list(errors, width)) if errors else (),
            *((*guide_sections, *command_sections) if is_of_library else (*command_sections, guide_section)),
            ("Help for one command: nsadmin COMMAND --help",) if commands else (),
        )
    )


def _read_methods(guide: str) -> list[tuple[str, str]]:
    """The rows of the table of methods: a command, and its method."""
    rows = (line.partition("` | ") for line in guide.splitlines() if line.startswith("| `"))
    return [(row[0].removeprefix("| `"), row[2].removesuffix(" |")) for row in rows if "admin." in row[2]]


def _fill(database: sqlite3.Connection) -> dict[str, list[CommandExample]]:
    """Create the tables of the search; return the examples of each command."""
    for kind in ("command", "guide"):
        database.execute(
            f"CREATE VIRTUAL TABLE {kind} USING fts5(name, names, summary, headings, text, tokenize=porter)"
        )
        database.execute(
            f"CREATE VIRTUAL TABLE {kind}_phrase USING fts5(text, name UNINDEXED, summary UNINDEXED, "
            "weight UNINDEXED, example UNINDEXED, tokenize=porter, columnsize=0)"
        )
    database.execute("CREATE VIRTUAL TABLE word USING fts5(said, written, tokenize=porter)")
    database.executemany("INSERT INTO word VALUES (?, ?)", WRITTEN_WORDS)
    settings = read_setting_names() | {"": set()}
    answers = read_answers()
    examples = {}
    rows = []
    phrases: list[tuple[str, str, str, float, int | None]] = []
    synonyms = defaultdict(list)
    for synonym, commands in COMMANDS_BY_SYNONYM.items():
        for name in commands:
            synonyms[name].append(synonym)
    for entry in registry.COMMANDS:
        name = entry.typed_name
        signature, docstring = read_source(entry)
        paragraphs, own_examples = parse_docstring(docstring)
        # An example with --force is no advice.
        asked: list[tuple[float, CommandExample | None, list[str]]] = [
            (6, e, [e.description]) for e in own_examples if "--force" not in e.command_line
        ]
        asked += [(9, example, questions) for _, example, questions in answers[name]]
        examples[name] = [example for _, example, _ in asked if example]
        names = " ".join((name, _split_name(name), *synonyms[name]))
        headings = " ".join(
            (*(q for _, _, questions in asked for q in questions), *settings[SETTING_COMMANDS.get(name, "")])
        )
        text = " ".join((*paragraphs, *_QUOTED.findall(signature)))
        rows.append((name, names, entry.help, headings, f"{text} {_split_name(text)}"))
        sentences = [s for p in paragraphs for s in _SENTENCE_END.split(p)]
        for weight, example, texts in (
            (4, None, [_split_name(name), *sentences]),
            (6, None, [entry.help]),
            *asked,
        ):
            place = examples[name].index(example) if example else None
            phrases += ((t, name, entry.help, weight * _weigh_word(t), place) for t in texts)
    database.executemany("INSERT INTO command VALUES (?, ?, ?, ?, ?)", rows)
    database.executemany("INSERT INTO command_phrase VALUES (?, ?, ?, ?, ?)", phrases)
    guides = [_guide_row(guide, answers[f"guide:{guide.name}"]) for guide in find_guides().values()]
    database.executemany("INSERT INTO guide VALUES (?, ?, ?, ?, ?)", guides)
    database.executemany(
        "INSERT INTO guide_phrase VALUES (?, ?, ?, ?, NULL)",
        (
            (phrase, name, title, 8 * _weigh_word(phrase))
            for name, _, title, headings, _ in guides
            for phrase in (title, *headings.splitlines())
        ),
    )
    return examples


def read_answers() -> defaultdict[str, list[Answer]]:
    """What operators ask, in their words, by the command or guide:NAME that answers.

    `drain, guide:scale-in: take a broker out; remove a broker` has two pages. A command with arguments,
    `topicStatus payments --times: age of messages`, is an example, which its first question describes.
    """
    answers: defaultdict[str, list[Answer]] = defaultdict(list)
    for line in (_PACKAGE_FOLDER / "help_pages/questions.txt").read_text(encoding="utf-8").splitlines():
        pages, _, questions = line.partition(": ")
        phrases = questions.split("; ")
        entry, args = registry.take_command(pages.split(" "))
        if entry is not None and args:
            example = CommandExample(f"nsadmin {pages}", phrases[0])
            answers[entry.typed_name].append(Answer(entry.typed_name, example, phrases))
        else:
            for page in pages.split(", "):
                answers[page].append(Answer(page, None, phrases))
    return answers


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
    database: sqlite3.Connection,
    kind: str,
    concepts: Sequence[Sequence[str]],
    examples: Mapping[str, list[CommandExample]],
) -> list[Hit]:
    """The pages of a kind.

    A concept counts by its rarity, once, in the best place of a page that has it. The two best phrases of a
    page count on top, by the part of them that is asked.
    """
    seen: list[dict[tuple[str, str], float]] = []
    scores: Counter[tuple[str, str]] = Counter()
    phrases: dict[tuple[str, str, float, int | None, int], list[float]] = defaultdict(list)
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
    worth: Counter[tuple[str, int | None]] = Counter()
    for (name, summary, weight, example, _), found in phrases.items():
        score = weight * sum(found) * len(found) ** 0.7
        matches[name, summary].append(score)
        worth[name, example] = max(worth[name, example], score)
    for page, phrase_scores in matches.items():
        best, *second = nlargest(2, phrase_scores)
        scores[page] += best + 0.4 * sum(second)
    found_pages = []
    for (name, summary), _ in scores.most_common(_MOST):
        own = examples.get(name, [])
        best_first = sorted(range(len(own)), key=lambda place: -worth[name, place])
        # Besides the best example, those that have a word of the question.
        found_pages.append(
            Hit(name, summary, [own[p] for p in best_first if worth[name, p] or p == best_first[0]])
        )
    return found_pages


def _find_phrases(
    database: sqlite3.Connection, kind: str, query: str
) -> list[tuple[str, str, float, int | None, int]]:
    """The phrases with the words: page, summary, weight, place of its example, and number."""
    return database.execute(
        f"SELECT name, summary, weight, example, rowid FROM {kind}_phrase WHERE {kind}_phrase MATCH ?",
        (query,),
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


def _guide_row(guide: Guide, answers: Sequence[Answer]) -> tuple[str, ...]:
    text = guide.read_text()
    headings = "\n".join(
        (
            *(line.lstrip("# ") for line in text.splitlines() if line.startswith("##")),
            *(question for answer in answers for question in answer.questions),
        )
    )
    return guide.name, guide.name.replace("-", " "), guide.title, headings, _FENCED.sub("", text)


def _split_name(name: str) -> str:
    """The words of a name: `topic Route`."""
    return _CAMEL_HUMP.sub(" ", name)
