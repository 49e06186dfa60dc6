"""The rules for names of modules and functions, and for cycles of imports, checked by `make check`.

Run it as `python -m tests.support.name_rules`. A finding is a line on stderr, and makes the exit code 1.
"""

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = {"namesrv_core": "namesrv_core", "nsadmin": "cli/nsadmin", "nsreport": "pipeline/nsreport"}

# Words that only look like a gerund or a participle.
NOUNS_IN_ING = {"ping", "polling", "recording", "ring", "setting", "spring", "string", "thing"}
VERBS_IN_ED = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"}
IRREGULAR_PARTICIPLES = re.compile(
    "begun|bound|broken|brought|built|chosen|done|drawn|driven|foreseen|found|given|gone|held|hidden|kept|known|"
    "left|lost|made|meant|met|said|seen|sent|shown|spent|taken|thought|told|understood|written"
)


class Source(NamedTuple):
    name: str
    path: Path
    text: str
    tree: ast.Module


def read_sources(root: Path = ROOT) -> list[Source]:
    sources = []
    for package, folder in PACKAGES.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            dotted_name = ".".join((package, *parts)).removesuffix(".__init__")
            text = path.read_text()
            sources.append(Source(dotted_name, path, text, ast.parse(text)))
    return sources


def split_words(identifier: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier) or [identifier]


def is_participle(word: str) -> bool:
    is_regular = len(word) > 3 and word.endswith("ed") and word not in VERBS_IN_ED
    return is_regular or IRREGULAR_PARTICIPLES.fullmatch(word) is not None


def is_gerund(word: str) -> bool:
    return len(word) > 4 and word.endswith("ing") and word not in NOUNS_IN_ING


def defined_functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            yield node


def find_bad_names(sources: list[Source]) -> Iterator[str]:
    for source in sources:
        last_word = source.name.rpartition(".")[2].split("_")[-1]
        if is_gerund(last_word) or is_participle(last_word):
            yield f"{source.name}: a module is named by the noun that it owns, not {last_word!r}"
        for function in defined_functions(source):
            words = split_words(function.name)
            if len(words) == 1 and is_participle(words[0]):
                yield f"{source.name}:{function.lineno}: {function.name}: name a function by verb and object"


def find_cycle(sources: list[Source]) -> Iterator[str]:
    # Imports inside functions and for type checkers count, too.
    module_names = {source.name for source in sources}
    imports: dict[str, set[str]] = {source.name: set() for source in sources}
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    imports[source.name].add(submodule if submodule in module_names else str(node.module))
            elif isinstance(node, ast.Import):
                imports[source.name].update(alias.name for alias in node.names)
        imports[source.name] = (imports[source.name] & module_names) - {source.name}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        yield "import cycle: " + " > ".join(error.args[1])


def main() -> int:
    sources = read_sources()
    findings = [*find_bad_names(sources), *find_cycle(sources)]
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
