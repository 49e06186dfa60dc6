"""The types of nsadmin that the annotations of the public library name, also those within records."""

import ast
import builtins
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from nsadmin import AdminClient
from nsadmin.aio import AsyncAdminClient
from nsadmin.aio.nouns import CLIENT_CLASSES, NOUN_NAMES

OWN_PACKAGES = ("namesrv_core.", "nsadmin.")


class PublicType(NamedTuple):
    """A class or alias, its module, and the first place that names it."""

    name: str
    module_name: str
    place: str


class _ModuleSource(NamedTuple):
    """The statements of a module, and the module of each name that its annotations may use."""

    statements_by_name: dict[str, ast.stmt]
    modules_by_name: dict[str, str]


@cache
def _read_module(module_name: str) -> _ModuleSource:
    tree = ast.parse(inspect.getsource(import_module(module_name)))
    modules_by_name: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules_by_name |= {alias.asname or alias.name: str(node.module) for alias in node.names}
    statements_by_name: dict[str, ast.stmt] = {}
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                statements_by_name[name] = node
                modules_by_name[name] = module_name
    return _ModuleSource(statements_by_name, modules_by_name)


def list_public_types() -> list[PublicType]:
    """Every type of ours that a script gets from the library or passes to it."""
    owners: list[type] = [AsyncAdminClient, *CLIENT_CLASSES]
    with AdminClient("127.0.0.1:1") as admin:
        owners += [type(getattr(admin, name)) for name in NOUN_NAMES]
    pending = [
        PublicType(base.__name__, base.__module__, "the library")
        for owner in owners
        for base in owner.__mro__
        if base.__module__.startswith(OWN_PACKAGES)
    ]
    nouns = {public_type[:2] for public_type in pending}
    known: dict[tuple[str, str], PublicType] = {}
    while pending:
        public_type = pending.pop()
        if public_type[:2] not in known:
            known[public_type[:2]] = public_type
            pending += _list_named(public_type)
    return sorted(public_type for key, public_type in known.items() if key not in nouns)


def _list_named(public_type: PublicType) -> Iterator[PublicType]:
    source = _read_module(public_type.module_name)
    statement = source.statements_by_name.get(public_type.name)
    match statement:
        case ast.ClassDef():
            yield from _list_of_class(statement, source, public_type)
        case ast.Assign(value=value) if not _is_type_variable(value):
            place = f"{public_type.module_name}.{public_type.name}"
            yield from _list_in_annotation(value, source, place)


def _list_of_class(node: ast.ClassDef, source: _ModuleSource, owner: PublicType) -> Iterator[PublicType]:
    for member in node.body:
        place = f"{owner.module_name}.{owner.name}"
        match member:
            case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
                yield from _list_in_annotation(member.annotation, source, f"{place}.{name}")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_") or (
                name == "__init__" and owner.name.endswith("AdminClient")
            ):
                arguments = [*member.args.args, *member.args.kwonlyargs]
                for annotation in (member.returns, *(argument.annotation for argument in arguments)):
                    yield from _list_in_annotation(annotation, source, f"{place}.{name}")


def _list_in_annotation(
    annotation: ast.expr | None, source: _ModuleSource, place: str
) -> Iterator[PublicType]:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            node = ast.Name(node.value)
        if not isinstance(node, ast.Name) or hasattr(builtins, node.id):
            continue
        module_name = source.modules_by_name.get(node.id, "")
        if module_name.startswith(OWN_PACKAGES) and not _is_variable(module_name, node.id):
            yield PublicType(node.id, _defining_module(module_name, node.id), place)


def _defining_module(module_name: str, name: str) -> str:
    """Follow re-exports to the module that defines the name."""
    target = _read_module(module_name).modules_by_name.get(name, module_name)
    return module_name if target == module_name else _defining_module(target, name)


def _is_variable(module_name: str, name: str) -> bool:
    module_name = _defining_module(module_name, name)
    statement = _read_module(module_name).statements_by_name.get(name)
    return statement is None or (isinstance(statement, ast.Assign) and _is_type_variable(statement.value))


def _is_type_variable(value: Any) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeVar"


def list_raised_names() -> set[str]:
    """The errors in the `Raises` sections of the public methods."""
    owners: list[type] = [AsyncAdminClient, *CLIENT_CLASSES]
    with AdminClient("127.0.0.1:1") as admin:
        owners += [type(getattr(admin, name)) for name in NOUN_NAMES]
    raised_names: set[str] = set()
    for owner in owners:
        for name, method in inspect.getmembers(owner):
            doc = "" if name.startswith("_") else inspect.getdoc(method) or ""
            _, _, section = doc.partition("Raises:\n")
            raised_names.update(re.findall(r"^    (\w+): ", section.partition("\n\n")[0], re.M))
    return raised_names
