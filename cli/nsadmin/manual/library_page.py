"""reference/library.md: the nouns, methods and types of the library, for mkdocstrings to fill in."""

import inspect
from collections.abc import Iterator, Sequence

from nsadmin.aio.nouns import NOUN_NAMES
from nsadmin.library.admin_client import AdminClient
from nsadmin.library.public_names import MODULES_BY_NAME

_CLIENT_MODULES = ("nsadmin.library.admin_client", "nsadmin.aio.async_client")
_PAGE_HEAD = """\
# Library

`nsadmin` exports everything on this page: `from nsadmin import AdminClient, TopicRoute`. Start with
[Write scripts](../how-to/write-scripts.md). `AsyncAdminClient` has the same nouns and methods as coroutines.

The documentation site has all arguments, results and errors. In a shell, `help(AdminClient)` and
`help(AdminClient().topics)` show the same text.
"""


def render_library_page() -> str:
    """Render the page. It has a directive `:::` for each class, which the documentation site replaces."""
    admin = AdminClient("127.0.0.1:1")
    noun_classes = {noun_name: type(getattr(admin, noun_name)) for noun_name in sorted(NOUN_NAMES)}
    noun_classes = {name: c for name, c in noun_classes.items() if c.__module__.startswith("nsadmin.")}
    page_parts = [_PAGE_HEAD, *_render_clients()]
    for noun_name, noun_class in noun_classes.items():
        page_parts += [f"## admin.{noun_name}\n", *_render_noun(noun_class)]
    page_parts += ["## Types and errors\n", *_render_types()]
    return "\n".join(page_parts)


def _render_clients() -> Iterator[str]:
    for module_name in _CLIENT_MODULES:
        [class_name] = _list_names(module_name)
        yield f"## {class_name}\n"
        yield _render_directive(
            f"{module_name}.{class_name}", ["show_root_heading: false", "heading_level: 3"]
        )


def _render_noun(noun_class: type) -> Iterator[str]:
    yield "| Method | |\n|---|---|"
    for method_name, method in inspect.getmembers(noun_class, inspect.isfunction):
        if not method_name.startswith("_"):
            summary = (inspect.getdoc(method) or "").partition("\n")[0]
            yield f"| `{method_name}` | {summary.replace('|', chr(92) + '|')} |"
    yield ""
    yield _render_directive(
        f"{noun_class.__module__}.{noun_class.__qualname__}", ["show_root_heading: false", "heading_level: 3"]
    )


def _render_types() -> Iterator[str]:
    for module_name in sorted(set(MODULES_BY_NAME.values()) - set(_CLIENT_MODULES)):
        for type_name in _list_names(module_name):
            yield _render_directive(f"{module_name}.{type_name}", ["heading_level: 3"])


def _list_names(module_name: str) -> list[str]:
    return sorted(name for name, defining_module in MODULES_BY_NAME.items() if defining_module == module_name)


def _render_directive(identifier: str, options: Sequence[str]) -> str:
    return "\n".join([f"::: {identifier}", "    options:", *(f"      {option}" for option in options), ""])
