"""Renders nsadmin/aio/nouns.pyi, the types of the asynchronous nouns, from the nouns of AdminClient."""

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from nsadmin.aio.nouns import CLIENT_CLASSES, NOUN_NAMES, PROCEDURE_NAMES
from nsadmin.library.admin_client import AdminClient

_LINE_LENGTH = 110
_OWN_PACKAGES = ("namesrv_core", "nsadmin")
_HEAD = '"""The nouns of AsyncAdminClient, for type checkers."""\n'
_CONTAINER = '''\
CLIENT_CLASSES: tuple[type, ...]
NOUN_NAMES: tuple[str, ...]
PROCEDURE_NAMES: tuple[str, ...]

class AsyncNouns:
    """Has an attribute for each noun of an AdminClient, and a coroutine for each procedure."""

    _admin_client: AdminClient
    _call_threads: CallThreads
    def __init__(self, admin_client: AdminClient, call_threads: CallThreads) -> None: ...
'''


def render_stubs() -> str:
    """The text of nouns.pyi, as `ruff format` leaves it."""
    nouns_by_name = {name: member for owner in CLIENT_CLASSES for name, member in vars(owner).items()}
    # Nothing is sent to this address: only the types of the nouns are needed.
    with AdminClient("127.0.0.1:1") as admin_client:
        nouns = {name: getattr(admin_client, name) for name in NOUN_NAMES}
        names = {
            "AdminClient": "nsadmin.library.admin_client",
            "CallThreads": "nsadmin.aio.call_threads",
        }
        class_texts = [
            _CONTAINER
            + "".join(_render_property(nouns_by_name[name], noun) for name, noun in nouns.items())
            + "".join(_render_procedures(names)),
            *(_render_class(noun, names) for noun in _list_distinct(nouns.values())),
        ]
    return "\n".join([_HEAD, _render_imports(names), *(f"{text.rstrip()}\n" for text in class_texts)])


def _list_distinct(nouns: Any) -> Iterator[Any]:
    """The nouns and those within them, one of each class."""
    pending_nouns, known_classes = list(nouns), set[type]()
    while pending_nouns:
        noun = pending_nouns.pop(0)
        if type(noun) not in known_classes:
            known_classes.add(type(noun))
            yield noun
            pending_nouns += [getattr(noun, name) for name, _ in _list_inner_nouns(type(noun))]


def _list_inner_nouns(noun_class: type) -> list[tuple[str, property | cached_property[Any]]]:
    return [(name, m) for name, m in vars(noun_class).items() if isinstance(m, property | cached_property)]


def _render_class(noun: Any, imported_names: dict[str, str]) -> str:
    noun_class = type(noun)
    member_texts = [_render_property(m, getattr(noun, name)) for name, m in _list_inner_nouns(noun_class)]
    for owner in reversed(noun_class.__mro__[:-1]):
        member_texts += _render_methods(owner, imported_names, lambda name: not name.startswith("_"))
    docstring = _render_docstring(noun_class.__doc__, "    ")
    return f"class {_async_name(noun_class)}:\n{docstring}" + "".join(member_texts)


def _render_procedures(imported_names: dict[str, str]) -> Iterator[str]:
    return _render_methods(AdminClient, imported_names, PROCEDURE_NAMES.__contains__)


def _render_methods(
    owner: type, imported_names: dict[str, str], is_shown: Callable[[str], bool]
) -> Iterator[str]:
    module_tree = ast.parse(inspect.getsource(import_module(owner.__module__)))
    name_sources = _find_name_sources(module_tree, owner.__module__)
    [class_node] = [
        node for node in module_tree.body if isinstance(node, ast.ClassDef) and node.name == owner.__name__
    ]
    for function in class_node.body:
        if isinstance(function, ast.FunctionDef) and is_shown(function.name) and not function.decorator_list:
            yield _render_method(function)
            _collect_names(function, name_sources, imported_names)


def _render_property(member: "property | cached_property[Any]", noun: Any) -> str:
    function: Any = member.fget if isinstance(member, property) else member.func
    return (
        f"    @property\n    def {function.__name__}(self) -> {_async_name(type(noun))}:\n"
        f"{_render_docstring(function.__doc__, '        ')}"
    )


def _render_method(function: ast.FunctionDef) -> str:
    return_text = _annotation_text(function.returns)
    is_generator = return_text.startswith("Iterator[")
    prefix = "def" if is_generator else "async def"
    return_text = f"Async{return_text}" if is_generator else return_text
    parameters = ["self", *_render_parameters(function.args)]
    line = f"    {prefix} {function.name}({', '.join(parameters)}) -> {return_text}:"
    if len(line) > _LINE_LENGTH:
        joined_parameters = ", ".join(parameters)
        lines = (
            [f"        {joined_parameters}"]
            if len(joined_parameters) + 8 <= _LINE_LENGTH
            else [f"        {parameter}," for parameter in parameters]
        )
        line = "\n".join([f"    {prefix} {function.name}(", *lines, f"    ) -> {return_text}:"])
    return f"{line}\n{_render_docstring(ast.get_docstring(function), '        ')}"


def _render_parameters(arguments: ast.arguments) -> Iterator[str]:
    positional = arguments.args[1:]
    first_default = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        yield _render_parameter(
            argument, arguments.defaults[index - first_default] if index >= first_default else None
        )
    if arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _render_parameter(argument, default)


def _render_parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = f"{argument.arg}: {_annotation_text(argument.annotation)}"
    if default is None:
        return text
    # A name stands for a constant of the module, which a stub does not have.
    is_literal = all(
        isinstance(node, ast.Constant | ast.Tuple | ast.expr_context) for node in ast.walk(default)
    )
    return f"{text} = {_expression_text(default) if is_literal else '...'}"


def _annotation_text(annotation: ast.expr | None) -> str:
    assert annotation is not None
    return _expression_text(_unquote_annotation(annotation))


def _unquote_annotation(annotation: ast.expr) -> ast.expr:
    """The annotation without quotes, because a stub needs none."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def _expression_text(expression: ast.expr) -> str:
    return ast.unparse(expression).replace("'", '"')


def _find_name_sources(module_tree: ast.Module, module_name: str) -> dict[str, str]:
    """The module of each name that annotations of a module may use."""
    name_sources: dict[str, str] = {}
    for node in ast.walk(module_tree):
        if isinstance(node, ast.ImportFrom):
            name_sources |= {alias.asname or alias.name: str(node.module) for alias in node.names}
    for node in module_tree.body:
        match node:
            case (
                ast.ClassDef(name=name)
                | ast.Assign(targets=[ast.Name(id=name)])
                | ast.AnnAssign(target=ast.Name(id=name))
            ):
                name_sources[name] = module_name
    return name_sources


def _collect_names(function: ast.FunctionDef, name_sources: dict[str, str], names: dict[str, str]) -> None:
    """Add the modules of the names in the annotations of a method."""
    arguments = [*function.args.args[1:], *function.args.kwonlyargs]
    annotations = [function.returns, *(argument.annotation for argument in arguments)]
    for annotation in annotations:
        assert annotation is not None
        for node in ast.walk(_unquote_annotation(annotation)):
            if not isinstance(node, ast.Name) or hasattr(builtins, node.id):
                continue
            name = "AsyncIterator" if node.id == "Iterator" else node.id
            if names.setdefault(name, name_sources[node.id]) != name_sources[node.id]:
                raise ValueError(f"{name} means two things: {names[name]} and {name_sources[node.id]}")


def _render_imports(imported_names: dict[str, str]) -> str:
    names_by_module: dict[str, list[str]] = {}
    for name, module_name in sorted(imported_names.items()):
        names_by_module.setdefault(module_name, []).append(name)
    blocks: dict[bool, str] = {False: "", True: ""}
    for module_name, names in sorted(names_by_module.items()):
        line = f"from {module_name} import {', '.join(names)}\n"
        if len(line) > _LINE_LENGTH + 1:
            line = f"from {module_name} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"
        blocks[module_name.startswith(_OWN_PACKAGES)] += line
    return "\n".join(blocks.values())


def _async_name(noun_class: type) -> str:
    return f"Async{noun_class.__name__}"


def _render_docstring(docstring: str | None, indentation: str) -> str:
    """The first paragraph of a docstring, and the blank line behind it."""
    assert docstring is not None
    summary = " ".join(inspect.cleandoc(docstring).split("\n\n")[0].split())
    line = f'{indentation}"""{summary}"""\n'
    if len(line) > _LINE_LENGTH + 1:
        wrapped_text = textwrap.fill(
            f'"""{summary}', _LINE_LENGTH - 10, initial_indent=indentation, subsequent_indent=indentation
        )
        line = f'{wrapped_text}\n{indentation}"""\n'
    return f"{line}\n"
