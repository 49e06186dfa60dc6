"""The asynchronous nouns have what the blocking ones have, and type checkers know it."""

import ast
import inspect
from typing import Any

import pytest

from nsadmin import AdminClient
from nsadmin.aio import AsyncAdminClient, nouns
from nsadmin.aio.nouns import NOUN_NAMES, PROCEDURE_NAMES
from nsadmin.manual.async_stubs import render_stubs

StubClasses = dict[str, dict[str, ast.FunctionDef | ast.AsyncFunctionDef]]


@pytest.fixture(scope="module")
def stub_classes() -> StubClasses:
    return {
        node.name: {f.name: f for f in node.body if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)}
        for node in ast.parse(render_stubs()).body
        if isinstance(node, ast.ClassDef)
    }


def test_a_noun_has_every_method_as_a_coroutine_or_asynchronous_iterator(stub_classes: StubClasses) -> None:
    for name in NOUN_NAMES:
        blocking_noun = getattr(AdminClient("127.0.0.1:1"), name)
        async_noun: Any = getattr(AsyncAdminClient("127.0.0.1:1"), name)
        stub_methods = stub_classes[f"Async{type(blocking_noun).__name__}"]
        members = [member for member in dir(blocking_noun) if not member.startswith("_")]
        assert members
        assert sorted(stub_methods) == members
        assert set(members) <= set(dir(async_noun))
        for member in members:
            blocking, wrapped = getattr(blocking_noun, member), getattr(async_noun, member)
            if not callable(blocking):
                assert isinstance(wrapped, nouns.AsyncNoun)  # type: ignore[attr-defined]
                assert f"Async{type(blocking).__name__}" in stub_classes
                continue
            is_iterator = inspect.isgeneratorfunction(blocking)
            assert inspect.isasyncgenfunction(wrapped) == is_iterator
            assert inspect.iscoroutinefunction(wrapped) != is_iterator
            assert wrapped.__doc__ == blocking.__doc__
            arguments = stub_methods[member].args
            names = [argument.arg for argument in (*arguments.args[1:], *arguments.kwonlyargs)]
            assert names == list(inspect.signature(blocking).parameters)


@pytest.mark.parametrize("name", PROCEDURE_NAMES)
def test_a_procedure_is_a_coroutine_with_the_arguments_of_the_blocking_one(
    name: str, stub_classes: StubClasses
) -> None:
    procedure = getattr(AsyncAdminClient("127.0.0.1:1"), name)
    assert inspect.iscoroutinefunction(procedure)
    arguments = stub_classes["AsyncNouns"][name].args
    names = [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)]
    assert names == list(inspect.signature(getattr(AdminClient, name)).parameters)


def test_the_client_has_all_nouns_and_no_others(stub_classes: StubClasses) -> None:
    admin: Any = AsyncAdminClient("127.0.0.1:1")
    assert sorted(stub_classes["AsyncNouns"].keys() - {"__init__"}) == sorted(NOUN_NAMES + PROCEDURE_NAMES)
    assert {*NOUN_NAMES, *PROCEDURE_NAMES} <= set(dir(admin))
    assert admin.topics is admin.topics
    assert admin.topics.list_names is admin.topics.list_names
    for owner, name in (
        (admin, "topic"),
        (admin, "__fspath__"),
        (admin.topics, "lists"),
        (admin.topics, "_caller"),
    ):
        with pytest.raises(AttributeError, match=name):
            getattr(owner, name)
