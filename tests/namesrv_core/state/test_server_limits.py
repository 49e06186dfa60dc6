"""The limits' keys: defaults, what 0 means, what is shown, what no request may change; their page."""

import re
from pathlib import Path

import pytest

from namesrv_core.errors import NoPermission
from namesrv_core.protocol.size_limits import UNLIMITED, DecodeLimits, effective_limit
from namesrv_core.state.server_limits import LimitHits
from namesrv_core.state.settings import DEFAULT_LIMITS, NameServerSettings

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "limits.md"


def test_a_limit_is_shown_when_it_is_not_as_it_is_by_default() -> None:
    settings = NameServerSettings()
    assert not settings.shown_items().keys() & DEFAULT_LIMITS.keys()
    assert settings.set_from_text("maxBrokers", "7") is None
    assert settings.shown_items()["maxBrokers"] == "7"


@pytest.mark.parametrize("key", DEFAULT_LIMITS)
def test_no_request_changes_a_limit(key: str) -> None:
    with pytest.raises(NoPermission):
        NameServerSettings().apply_update({key: "0"})


def test_zero_and_less_is_no_limit() -> None:
    assert [effective_limit(value) for value in (5, 0, -1)] == [5, UNLIMITED, UNLIMITED]
    assert NameServerSettings(maxJsonDepth=0, maxExtFields=3).build_decode_limits() == DecodeLimits(
        json_depth=UNLIMITED, ext_fields=3
    )


def test_the_defaults_are_those_of_the_protocol() -> None:
    assert NameServerSettings().build_decode_limits() == DecodeLimits()


def test_the_page_has_every_key_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(max\w+)` \| ([\d ]+)\b", PAGE.read_text(), re.M))
    assert {key: int(text.replace(" ", "")) for key, text in rows.items()} == dict(DEFAULT_LIMITS)


def test_all_that_was_met_is_counted_and_some_of_it_noticed() -> None:
    met = LimitHits()
    for _ in range(100):
        met.record_hit("maxBrokers", "text")
    assert met.hit_counts["maxBrokers"] == 100
    assert len(met.unlogged_hits) == 16
