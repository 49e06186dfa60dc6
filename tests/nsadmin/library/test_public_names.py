"""Everything that scripts get from the library or pass to it can be imported from nsadmin."""

import inspect
import re
from typing import Any

import pytest

import nsadmin
from nsadmin.aio import AsyncAdminClient
from nsadmin.library.public_names import MODULES_BY_NAME
from tests.support.public_types import list_public_types, list_raised_names

INTERNAL = {
    "AddrLookup": "only in methods that the client calls itself",
    "AddressMap": "only in methods that the client calls itself",
    "AnswerSource": "only bundles are one, and commands open them",
    "Call": "only in methods that the client calls itself",
    "CallScope": "only in methods that the client calls itself",
    "Caller": "the client makes it",
    "ExtFields": "only in methods that the client calls itself",
    "Header": "only in methods that the client calls itself",
    "ResponseDecoder": "only in methods that the client calls itself",
    "SendLive": "only in methods that the client calls itself",
    "SocketAddress": "only in methods that the client calls itself",
    "ThreadSafeConnections": "the client makes it",
    "Tunnel": "the client makes it",
}


def test_every_type_in_an_annotation_is_public() -> None:
    public_types = list_public_types()
    missing = {
        t.name: t.place
        for t in public_types
        if t.name not in INTERNAL and MODULES_BY_NAME.get(t.name) != t.module_name
    }
    assert missing == {}
    assert len(public_types) > 150


def test_every_error_that_a_docstring_names_is_public() -> None:
    built_in = {"IndexError", "KeyError", "OSError", "TypeError", "ValueError"}
    assert list_raised_names() - built_in - MODULES_BY_NAME.keys() == set()


def test_a_public_name_is_what_its_module_defines() -> None:
    for name in MODULES_BY_NAME:
        value = getattr(nsadmin, name)
        assert value is not None, name
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__module__, value.__name__) == (MODULES_BY_NAME[name], name)
            assert inspect.getdoc(value), name


def test_the_library_of_asyncio_is_the_same_class() -> None:
    assert nsadmin.AsyncAdminClient is AsyncAdminClient


LIBRARY_METHODS: list[Any] = [
    pytest.param(method, id=f"{owner.__name__}.{name}")
    for owner in (
        nsadmin.AdminClient,
        type(nsadmin.AdminClient("127.0.0.1:1").checks),
        type(nsadmin.AdminClient("127.0.0.1:1").plans),
        type(nsadmin.AdminClient("127.0.0.1:1").backups),
    )
    for name, method in vars(owner).items()
    if not name.startswith("_") and (inspect.isfunction(method) or isinstance(method, classmethod))
]


@pytest.mark.parametrize("method", LIBRARY_METHODS)
def test_every_argument_and_result_is_documented(method: Any) -> None:
    function = method.__func__ if isinstance(method, classmethod) else method
    doc = inspect.getdoc(function) or ""
    arguments = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    assert [name for name in arguments if not re.search(rf"^    {name}: ", doc, re.M)] == []
    is_procedure = inspect.signature(function).return_annotation in (None, "None")
    assert is_procedure or "Returns:\n" in doc
