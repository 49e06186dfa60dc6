"""The rules for prose, checked by `make check`: which sentences break one, and what to write instead.

Run it as `python -m tests.support.prose_rules [PATH…]`. It reads the Markdown pages, help texts, error and
status messages, and published docstrings. `--comments` adds comments and internal docstrings. `--summary`
counts the findings of each file. The exit code is 1 if there are findings.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.prose_passages import Passage, read_markdown, read_python

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")
PACKAGES = ("namesrv_core", "cli/nsadmin", "pipeline/nsreport")
PUBLISHED_DOCSTRINGS = re.compile(
    r"cli/nsadmin/(?:client|commands|aio|library)/|namesrv_core/events?(?:_records)?\.py|namesrv_core/history/"
)
FORMER_NAMES = "CHANGELOG.md"
MOST_WORDS = 30


class Rule(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    advice: str


class Finding(NamedTuple):
    path: str
    line: int
    rule_name: str
    words: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule_name}: {self.words!r}: {self.advice}"


def _rule(name: str, pattern: str, advice: str, flags: re.RegexFlag = re.IGNORECASE) -> Rule:
    return Rule(name, re.compile(pattern, flags), advice)


RULES = [
    _rule(
        "passive-tell",
        r"\b(?:is|are|was|were|be|been|being|not) told\b",
        'write "receives", "learns", "reports"',
    ),
    _rule(
        "possessive",
        r"(?<!such )\bas (?:upstream|Apache|mqadmin|Java|CODE)'s(?=$|[,.;:)]| (?:does|do|is|are)\b)",
        'write "like Apache\'s NAME"',
    ),
    _rule(
        "as-has-it",
        r"\bas (?:[\w']+ ){1,4}(?:has|have|had) (?:it|them)\b",
        'write "like X" or "in X\'s format"',
    ),
    _rule(
        "inverted",
        r"^(?:[A-Z]\w+ed|Open|Told|Given|Kept|Read|Written|Shown|Seen|Known|Made|Left|Sent|Lost|Meant)\b"
        r"[^,:]{0,25}, (?:it|they|this|that|as|its|these|the|all|no)\b|^Not \w+ed\b(?= )|^Asked for\b",
        'begin with the subject: "If …, the server …"',
        re.NOFLAG,
    ),
    _rule("fragment", r"^(?:Although|Though) [^,]*$", "write a whole sentence with a verb"),
    _rule("to-do", r"\bto do: (?!nsadmin|CODE|\S+ctl )", "write the command, or an imperative sentence"),
    _rule("cannot-be", r"\bcannot be:", 'write: invalid X "VALUE": use …'),
    _rule("which-question", r"\bwhich \S+\?(?= |$)", 'write: "no X: pass --option, or …"', re.NOFLAG),
    _rule(
        "archaic",
        r"\b(?:mends?|mended|mending|ails?|ailing|anew|thereby|thereof|therein|hereby|wherein|henceforth|forth"
        r"|lest|ere|behold|befall\w*|asunder|unmentioned|hostile hands|(?:on|at) the word of|no word of"
        r"|(?:one|words?|many) too many|turn(?:s|ed|ing)?(?: one| it)? round|held? good|holds good)\b",
        "write it plainly",
    ),
]

_SERVER = "(?:broker|master|slave|client|producer|proxy|server|RocketMQ|mqadmin)"
_OWNER = "(?:topic|group|broker|server|cluster)"

TERMS = {
    "Lag": "backlogs?(?! behind)|accumulation",
    "Settings": rf"{_OWNER}(?:'s|s')? (?:own )?configurations?(?! files?)"
    rf"|(?<!order )configurations? of (?:an? |the |its |each |every |all )*(?:name )?{_OWNER}s?",
    "Version": rf"{_SERVER}(?:'s|s') releases?|unknown release|release (?:is )?unknown"
    rf"|releases? of (?:an? |the |its |each |all )*(?:name )?{_SERVER}s?",
    "Orphan": "leftovers?",
    "Audit log": "audit (?:files?|trails?)",
    "Current context": "contexts? in use|(?:active|selected|chosen) context",
    "Category": "(?:commands|those) (?:by|of a) subject",
}
"""The words that stand for an entry of the glossary with another name."""
RULES += [
    _rule("term", rf"\b(?:{words})\b", f'the glossary calls it "{name}"') for name, words in TERMS.items()
]

_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)[.!?…]['\"”)]*(?=\s+\S|\s*$)\s*|\n\n+")


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield each sentence with its offset in the text."""
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        if text[begin : match.end()].strip():
            yield begin, text[begin : match.end()].rstrip()
        begin = match.end()
    if text[begin:].strip():
        yield begin, text[begin:].rstrip()


def find_in_sentence(sentence: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield the rules that a sentence breaks: name, offset in the sentence, words and advice."""
    for rule in RULES:
        for match in rule.pattern.finditer(sentence):
            yield rule.name, match.start(), _with_context(sentence, match), rule.advice
    word_count = sum(any(letter.isalnum() for letter in token) for token in sentence.split())
    if word_count > MOST_WORDS:
        yield (
            "long",
            0,
            " ".join(sentence.split()[:4]) + " …",
            f"{word_count} words: make two sentences of it",
        )
    semicolons = [match.start() for match in re.finditer(";(?= )", sentence)]
    if len(semicolons) > 1:
        yield "semicolons", semicolons[1], "; … ;", "make sentences or a list of it"


def _with_context(sentence: str, match: re.Match[str]) -> str:
    following = re.match(r"(?: \S+){0,2}", sentence[match.end() :])
    return match.group() + (following.group() if following else "")


def find_in_passage(passage: Passage) -> Iterator[Finding]:
    text = re.sub(r"[ \t]+", " ", "\n".join(passage.lines))
    for sentence_offset, sentence in split_sentences(text):
        one_line = sentence.replace("\n", " ")
        for rule_name, offset, words, advice in find_in_sentence(one_line):
            if rule_name == "term" and passage.path == FORMER_NAMES:
                continue
            line = passage.first_line + text.count("\n", 0, sentence_offset + offset)
            if passage.kind == "string":
                line = passage.first_line
            yield Finding(passage.path, line, rule_name, words, advice)


def find_files(paths: Iterable[str]) -> Iterator[Path]:
    for name in paths:
        path = ROOT / name
        files = [path] if path.is_file() else [*path.rglob("*.md"), *path.rglob("*.py")]
        yield from sorted(files)


def read_passages(file: Path, with_comments: bool = False) -> Iterator[Passage]:
    name = file.relative_to(ROOT).as_posix()
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        yield from read_markdown(name, text)
    else:
        is_published = PUBLISHED_DOCSTRINGS.match(name) is not None
        yield from read_python(name, text, with_docstrings=is_published, with_comments=with_comments)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="prose_rules", description="Check the prose of the project.")
    parser.add_argument(
        "paths", nargs="*", help="files and folders, from the root of the project; default: all"
    )
    parser.add_argument("--summary", action="store_true", help="count the findings of each file")
    parser.add_argument("--comments", action="store_true", help="check comments and internal docstrings, too")
    options = parser.parse_args(arguments)
    paths = [Path(name).resolve().relative_to(ROOT).as_posix() for name in options.paths]
    findings = sorted(
        finding
        for file in find_files(paths or (*PAGES, *PACKAGES))
        for passage in read_passages(file, options.comments)
        for finding in find_in_passage(passage)
    )
    if options.summary:
        for path, count in Counter(finding.path for finding in findings).most_common():
            print(f"{count:6} {path}")
        print(f"{len(findings):6} in all")
    else:
        for finding in findings:
            print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
