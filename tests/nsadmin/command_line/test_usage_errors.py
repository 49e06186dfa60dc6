"""The words for mistakes in a command line."""

from typing import Annotated

from nsadmin.command_line.usage_errors import expected_value, unknown_option

from nsadmin.command_line.declarations import Option, build_parameter


def test_an_option_that_is_similar_to_none_gets_advice() -> None:
    assert str(unknown_option("--foo", ["--force"], "x")) == 'unknown option "--foo": did you mean "--force"?'
    assert str(unknown_option("-x", ["--force", "-y"], "see y")) == 'unknown option "-x": see y'
    assert str(unknown_option("-", ["-y"], "see y")) == 'unknown option "-": see y'
    assert (
        str(unknown_option("--hlep", ["--force"], "x")) == 'unknown option "--hlep": did you mean "--help"?'
    )


def test_what_an_option_expects_has_an_example() -> None:
    seconds = build_parameter("t", Annotated[float, Option("--t", metavar="SECONDS")], 1)
    number = build_parameter("n", Annotated[int | None, Option("--n", metavar="COUNT")], None)
    share = build_parameter("s", Annotated[float, Option("--s", metavar="SHARE")], 1)
    assert expected_value(seconds) == "seconds, for example 3 or 0.5"
    assert expected_value(number) == "a whole number, for example 10"
    assert expected_value(share) == "a number"
