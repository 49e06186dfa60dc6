"""The page of the library has every noun and every public type, and links to real objects."""

import re
from importlib import import_module

from nsadmin.aio.nouns import NOUN_NAMES
from nsadmin.library.public_names import MODULES_BY_NAME
from nsadmin.manual.library_page import render_library_page

PAGE = render_library_page()
IDENTIFIERS = re.findall(r"^::: (\S+)$", PAGE, re.M)


def test_it_has_every_noun_with_its_methods() -> None:
    headings = set(re.findall(r"^## admin\.(\S+)$", PAGE, re.M))
    assert headings >= set(NOUN_NAMES) - {
        "name_servers_of_reads",
        "unreachable",
        "disagreements",
        "addresses",
    }
    assert "| `get_route` | " in PAGE


def test_it_has_every_public_type() -> None:
    assert {identifier.rpartition(".")[2] for identifier in IDENTIFIERS} >= MODULES_BY_NAME.keys()


def test_each_directive_names_an_object() -> None:
    for identifier in IDENTIFIERS:
        module_name, _, object_name = identifier.rpartition(".")
        assert hasattr(import_module(module_name), object_name), identifier
