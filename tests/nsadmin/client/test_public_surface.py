"""What scripts see: everything public of AdminClient, its nouns and their records says what it is."""

import inspect
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any, get_type_hints

import nsadmin
from nsadmin import AdminClient, client
from nsadmin.aio.nouns import CLIENT_CLASSES, NOUN_NAMES

NOUNS = {name: item for owner in CLIENT_CLASSES for name, item in vars(owner).items() if name in NOUN_NAMES}


def classes() -> list[type]:
    """Every public class of the library: what `nsadmin` exports, and the nouns."""
    with AdminClient("127.0.0.1:1") as admin:
        owners = [type(getattr(admin, name)) for name in NOUNS]
    owners += [item for name in nsadmin.__all__ if inspect.isclass(item := getattr(nsadmin, name))]
    return [owner for owner in dict.fromkeys(owners) if owner.__module__.startswith("nsadmin.client.")]


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """What the class itself defines for others to use: methods, properties."""
    for name, item in vars(owner).items():
        if name.startswith("_") or name in getattr(owner, "_fields", ()):
            continue
        if isinstance(item, (property, cached_property)):
            yield name, item.fget if isinstance(item, property) else item.func
        elif isinstance(item, (staticmethod, classmethod)):
            yield name, item.__func__
        elif inspect.isfunction(item):
            yield name, item


CLASSES = classes()
MEMBERS = [item for owner in CLASSES for _, item in members(owner)]


def test_a_method_has_a_docstring_and_full_annotations() -> None:
    for function in MEMBERS:
        doc = inspect.getdoc(function)
        assert doc, f"{function}: say what it does, in which units, and which errors"
        assert doc.split("\n\n")[0].rstrip().endswith((".", ":", "...")) or doc.endswith('".'), doc
        parameters = list(inspect.signature(function).parameters.values())
        assert inspect.signature(function).return_annotation is not inspect.Signature.empty, function
        assert all(item.annotation is not inspect.Parameter.empty for item in parameters[1:]), function


def test_a_class_has_a_docstring() -> None:
    for owner in CLASSES:
        # What NamedTuple writes by itself says nothing.
        assert owner.__doc__, owner
        assert not owner.__doc__.startswith(f"{owner.__name__}("), owner


def test_a_noun_is_loaded_by_its_name_and_says_so() -> None:
    for name, member in NOUNS.items():
        with AdminClient("127.0.0.1:1") as admin:
            noun = getattr(admin, name)
            assert isinstance(member, property) or getattr(admin, name) is noun
        getter: Any = member.fget if isinstance(member, property) else member.func
        assert f"`admin.{name}`" in (type(noun).__doc__ or "")
        assert get_type_hints(getter, vars(import_module(type(noun).__module__)))["return"] is type(noun)


def test_the_front_door_gives_what_scripts_need() -> None:
    assert set(client.__all__) <= set(dir(client))
    assert all(getattr(nsadmin, name) for name in nsadmin.__all__)


FUNCTIONS = [getattr(nsadmin, name) for name in nsadmin.__all__ if inspect.isfunction(getattr(nsadmin, name))]


def test_a_list_of_arguments_is_whole() -> None:
    for function in (*FUNCTIONS, *MEMBERS):
        names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
        _, title, described = (inspect.getdoc(function) or "").partition("Args:\n")
        assert not title or [name for name in names if f"    {name}: " not in described] == [], function
