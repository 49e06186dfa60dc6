"""Contexts by name: the one in use, the one of before, and what none of them shows."""

import pytest

from nsadmin.client.connection.access_options import Credentials
from nsadmin.console.contexts import Context, Contexts, ContextTls, InvalidContextsError

PROD = Context("a:9876;b:9876", read_only=True)
LAB = Context("127.0.0.1:9876")


def test_the_one_of_before_is_found_again() -> None:
    both = Contexts({"prod": PROD, "lab": LAB}).with_current("prod").with_current("lab")
    assert (both.current_name, both.previous_name) == ("lab", "prod")
    assert both.with_current("lab") == both
    back = both.with_current("-")
    assert (back.current_name, back.previous_name) == ("prod", "lab")


def test_unknown_names_are_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidContextsError, match='no context "x": choose from lab, prod'):
        Contexts({"prod": PROD, "lab": LAB}).with_current("x")
    with pytest.raises(
        InvalidContextsError, match='no context "x": run nsadmin context set x -n HOST:PORT to save it'
    ):
        Contexts({}).require_context("x")
    with pytest.raises(
        InvalidContextsError, match="there is no previous context: run nsadmin context use NAME"
    ):
        Contexts({"lab": LAB}, "lab").with_current("-")


def test_a_context_that_is_deleted_is_no_longer_in_use() -> None:
    left = Contexts({"prod": PROD, "lab": LAB}, "prod", "lab").without_context("prod")
    assert left == Contexts({"lab": LAB}, None, "lab")


def test_a_secret_is_not_represented() -> None:
    context = Context("a", credentials=Credentials("me", "s3cret"), tls=ContextTls(key_password="pa55"))
    assert "s3cret" not in repr(context)
    assert "pa55" not in repr(context)


def test_secrets_in_the_file_are_known() -> None:
    assert Context(credentials=Credentials("me", "s3cret")).has_secrets
    assert Context(tls=ContextTls(key_password="pa55")).has_secrets
    assert not Context(credentials="env", tls=ContextTls()).has_secrets


def test_a_context_that_looks_alike_is_suggested() -> None:
    with pytest.raises(InvalidContextsError, match=r'no context "prd"; did you mean "prod"\?'):
        Contexts({"prod": Context("h:1"), "lab": Context("h:1")}).require_context("prd")
