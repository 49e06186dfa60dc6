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
GENERATED_PAGES = "docs/reference/commands"  # Rendered from the sources, which are checked.
PUBLISHED_DOCSTRINGS = re.compile(
    r"cli/nsadmin/(?:client|commands|aio|library)/|namesrv_core/events?(?:_records)?\.py|namesrv_core/history/"
)
MOST_WORDS = 30

# Text that keeps to no rule, by path and words, and the reason. "" as path stands for all files.
IGNORED: dict[tuple[str, str], str] = {
    ("namesrv_core/state/credentials_schema.py", "networks or everybody"): "a key of the credentials file",
    ("namesrv_core/fleet/messages.py", "Nobody ever sent"): "the body of simulated messages",
}

_PEOPLE = (
    "people|persons?|users?|operators?|admins?|administrators?|attackers?|colleagues?|readers?|authors?|developers?|"
    "contributors?|reporters?|maintainers?|anyone|everyone"
)
_ADDRESSEES = (
    "you|us|(?:(?:the|a|an|each|every|all|its|other|your|both) )*(?:name )?(?:"
    "users?|operators?|readers?|clients?|producers?|consumers?|brokers?|servers?|kernel|shells?|terminal|program|"
    "Spark|systemd|Nagios|Kubernetes|CODE)"
)
# After these verbs "what" and "who" begin an indirect question: "shows what would change".
_ASKING_VERBS = (
    "says?|said|shows?|showed|shown|showing|sees?|checks?|checked|knows?|known|explains?|describes?|decides?|"
    "learns?|understand|understands|chooses?|defines?|determines?|find out|finds out|prints?|asks?|"
    "control|controls|remember|report|reports|documents?|about|compare|matter|matters|depends on"
)
_QUESTION_WORDS = "what|which|whether|how|why|where|when|who"


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
        "free-relative",
        r"\bwhat(?: (?:is|are|was|were|has|have|does|do))? (?:not|never|no)\b",
        "name the thing",
    ),
    _rule(
        "free-relative",
        r"\b(?:whatever|whoever|whichever|wherever|whomever)\b",
        "name the thing or the condition",
    ),
    _rule(
        "free-relative",
        r"\b(?:all|everything|anything|that) (?:that|which) (?:is|was|there)\b",
        "name the things",
    ),
    _rule("all-that", r"(?<!not )(?<!after )\ball that\b", 'name the things: "all settings", "every change"'),
    _rule(
        "pronoun",
        r"\b(?:nobody|somebody|anybody|everybody|no one)\b",
        "name the actor: user, client, name server",
    ),
    _rule("pronoun", r"\b(?:he|him|his|himself|she|her|hers)\b", 'name the actor, or write "you"'),
    _rule("pronoun", r"\b(?:whom|those who|ones? who)\b", "name the actor: user, client, name server"),
    _rule("pronoun", r"\b(?:is|are|was) (?:none|one)(?=[.,;:)]|$)", "repeat the noun", re.NOFLAG),
    _rule(
        "pronoun",
        r"\b(?:without one\b|one that\b|ones that\b|that one(?=$|[.,;:)])|the one of\b)",
        "repeat the noun",
    ),
    _rule(
        "passive-tell",
        r"\b(?:is|are|was|were|be|been|being|not) told\b",
        'write "receives", "learns", "reports"',
    ),
    _rule("tell", r"\btold (?:of|about|apart)\b", 'write "receives", "reports", "distinguish"'),
    _rule(
        "tell", rf"\btells?\b(?! (?:{_ADDRESSEES})\b)", 'write "says", "reports", "returns" or "distinguish"'
    ),
    _rule(
        "let-know", r"\blets? (?:\S+ ){1,3}(?:know|go)\b", "write the imperative: set, save, pass, release"
    ),
    _rule("must", r"(?<!not )(?<!not always )\b(?:has|have) to\b", 'write "must"'),
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
    _rule("of-all", r"\bof all (?:this|that|these)\b|^Of \w+", "begin with the subject", re.NOFLAG),
    _rule(
        "inverted",
        r"^(?:[A-Z]\w+ed|Open|Told|Given|Kept|Read|Written|Shown|Seen|Known|Made|Left|Sent|Lost|Meant)\b"
        r"[^,:]{0,25}, (?:it|they|this|that|as|its|these|the|all|no)\b|^Not \w+ed\b(?= )|^Asked for\b",
        'begin with the subject: "If …, the server …"',
        re.NOFLAG,
    ),
    _rule("fragment", r"^(?:Although|Though) [^,]*$", "write a whole sentence with a verb"),
    _rule("to-do", r"\bto do: (?!nsadmin|CODE|\S+ctl )", "write the command, or an imperative sentence"),
    _rule("no-that", r"\bno \w+ that\b", 'write "no X with …", or say what happens'),
    _rule(
        "is-no", r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b)\w+", 'write "is not a X"'
    ),
    _rule(
        "there-are", r"\b(?:that|\w+s) there (?:are|is)(?=$|[.,;:)])", 'name the things, without "there are"'
    ),
    _rule("cannot-be", r"\bcannot be:", 'write: invalid X "VALUE": use …'),
    _rule("which-question", r"\bwhich \S+\?(?= |$)", 'write: "no X: pass --option, or …"', re.NOFLAG),
    _rule("word", r"\b(?:mends?|mended|mending)\b", 'write "fix" or "repair"'),
    _rule("word", r"\b(?:ails?|ailing)\b", 'write "is wrong with"'),
    _rule("word", r"\bhostile hands\b", 'write "attacker"'),
    _rule("word", r"\bperhaps\b", 'write "possibly", or the condition'),
    _rule("word", r"\b(?:anew|once more)\b", 'write "again"'),
    _rule("word", r"\balike\b", 'write "the same", "equal" or "both"'),
    _rule(
        "word", r"\b(?:thereby|thereof|therein|hereby|whereby|wherein|henceforth|forth)\b", "write it plainly"
    ),
    _rule(
        "word", r"\b(?:upon|lest|hence|thus|ere|behold|befall\w*|asunder|unmentioned)\b", "write it plainly"
    ),
    _rule("word", r"\bat hand\b", 'write "available" or "installed"'),
    _rule("word", r"\bof (?:its|their|one's) own\b", 'write "its own X", or "separate"'),
    _rule(
        "word", r"\bstand(?:s|ing)? (?:open|by (?:itself|themselves))\b", 'write "accepts unauthenticated …"'
    ),
    _rule("word", r"\bby (?:itself|themselves)\b", 'write "automatically", "alone" or "on its own"'),
    _rule("word", r"\b(?:the|their|its) like\b(?! \w+ing)", 'write "and similar X"'),
    _rule("word", r"\bfor ever\b", 'write "permanently" or "never ends"'),
    _rule("word", r"\bof (?:before|now|old)\b(?! \w+ing)", 'write "earlier", "previous" or "current"'),
    _rule("word", r"\bso many\b", 'write "this number of", or N'),
    _rule("word", r"\b(?:one|words?|many) too many\b", 'write "unexpected argument"'),
    _rule("word", r"\b(?:do|does|go|goes) without\b", 'write "omit", "skip" or "works without X"'),
    _rule("word", r"\blook(?:s|ed|ing)? again\b", 'write "read again", "check again" or "retry"'),
    _rule(
        "word", r"\b(?:a|each|every|one|two|last|first|next) looks?\b", 'write "check", "poll" or "reading"'
    ),
    _rule(
        "word", r"\bturn(?:s|ed|ing)?(?: one| it)? round\b", 'write "reverses" or "sorts in descending order"'
    ),
    _rule("word", r"\b(?:says?|said) so\b", 'write "reports it", "logs a warning"'),
    _rule("word", r"\bis due\b", 'write "is expected"'),
    _rule("word", r"\bin silence\b", 'write "silently", or "without a message"'),
    _rule("word", r"\b(?:is|are|does|do|meant) otherwise\b|\botherwise than\b", 'write "differs"'),
    _rule("word", r"\bmay be killed\b", 'write "Safe to interrupt"'),
    _rule("word", r"\b(?:is|are) an answer\b", "say what nsadmin reports"),
    _rule("word", r"\bif left out\b|\bleft out:", 'write "default: VALUE"'),
    _rule("word", r"\b(?:on|at) the word of\b|\bno word of\b|\bhalf-way\b|\bodd one\b", "write it plainly"),
    _rule("word", r"\bheld? good\b|\bholds good\b|\bfor good\b|\bmakes? do\b", "write it plainly"),
]

_WHAT = re.compile(r"\bwhat\b(?! to \w)(?! kind\b)", re.IGNORECASE)
_WHO = re.compile(r"\bwho\b", re.IGNORECASE)
_AFTER_ASKING_VERB = re.compile(rf"\b(?:{_ASKING_VERBS})(?: (?:you|exactly|only))? $", re.IGNORECASE)
_AFTER_PERSON = re.compile(rf"\b(?:{_PEOPLE}) $", re.IGNORECASE)
_AFTER_QUESTION = re.compile(
    rf"\b(?:{_ASKING_VERBS})(?: \w+)? (?:{_QUESTION_WORDS})\b.*(?:,|,? and|,? or) $", re.IGNORECASE
)
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


def find_in_sentence(sentence: str, kind: str = "paragraph") -> Iterator[tuple[str, int, str, str]]:
    """Yield the rules that a sentence breaks: name, offset in the sentence, words and advice."""
    for rule in RULES:
        for match in rule.pattern.finditer(sentence):
            yield rule.name, match.start(), _with_context(sentence, match), rule.advice
    if not sentence.endswith("?"):
        yield from _find_free_relatives(sentence, kind)
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


def _find_free_relatives(sentence: str, kind: str) -> Iterator[tuple[str, int, str, str]]:
    for pattern, advice in (
        (_WHAT, 'name the thing: "the setting", "the change"'),
        (_WHO, "name the actor: user, client, name server"),
    ):
        for match in pattern.finditer(sentence):
            before = sentence[: match.start()]
            is_question = _AFTER_ASKING_VERB.search(before) or _AFTER_QUESTION.search(before)
            is_person = pattern is _WHO and _AFTER_PERSON.search(before)
            is_title = kind == "heading" and not before
            if not (is_question or is_person or is_title):
                yield "free-relative", match.start(), _with_context(sentence, match), advice


def _with_context(sentence: str, match: re.Match[str]) -> str:
    following = re.match(r"(?: \S+){0,2}", sentence[match.end() :])
    return match.group() + (following.group() if following else "")


def find_in_passage(passage: Passage) -> Iterator[Finding]:
    text = re.sub(r"[ \t]+", " ", "\n".join(passage.lines))
    for sentence_offset, sentence in split_sentences(text):
        one_line = sentence.replace("\n", " ")
        for rule_name, offset, words, advice in find_in_sentence(one_line, passage.kind):
            line = passage.first_line + text.count("\n", 0, sentence_offset + offset)
            if passage.kind == "string":
                line = passage.first_line
            if not _is_ignored(passage.path, one_line):
                yield Finding(passage.path, line, rule_name, words, advice)


def _is_ignored(path: str, sentence: str) -> bool:
    return any(ignored_path in ("", path) and words in sentence for ignored_path, words in IGNORED)


def find_files(paths: Iterable[str]) -> Iterator[Path]:
    for name in paths:
        path = ROOT / name
        files = [path] if path.is_file() else [*path.rglob("*.md"), *path.rglob("*.py")]
        for file in sorted(files):
            if not file.relative_to(ROOT).as_posix().startswith(GENERATED_PAGES):
                yield file


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
