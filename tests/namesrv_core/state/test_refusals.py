"""Refusals: counted for ever, noticed within bounds."""

from namesrv_core.state.refusals import (
    RefusalCounters,
    RefusalKind,
    RefusalReason,
    RefusalTally,
    RequestRefusal,
)


def test_all_reasons_are_counted_from_the_start() -> None:
    refusals = RefusalCounters()
    assert refusals.counts_by_reason == dict.fromkeys(RefusalReason, 0)
    refusals.record_refusal(RequestRefusal(RefusalReason.ROLE, "no"), 318, "h")
    refusals.record_refusal(RequestRefusal(RefusalReason.ROLE, "no"), 318, "h")
    assert (refusals.counts_by_reason[RefusalReason.ROLE], sum(refusals.counts_by_reason.values())) == (2, 2)


def test_what_is_alike_is_noticed_once_with_the_key_that_was_named_last() -> None:
    refusals = RefusalCounters()
    for key in ("a", "b" * 1000):
        refusals.record_refusal(RequestRefusal(RefusalReason.UNKNOWN_KEY, "no", key), 318, "h")
    refusals.record_refusal(RequestRefusal(RefusalReason.UNSIGNED, "no"), 318, "h")
    assert refusals.take_unlogged() == (
        {
            RefusalKind(RefusalReason.UNKNOWN_KEY, 318, "h"): RefusalTally(2, "b" * 64),
            RefusalKind(RefusalReason.UNSIGNED, 318, "h"): RefusalTally(1, None),
        },
        0,
    )
    assert refusals.take_unlogged() == ({}, 0)


def test_beyond_a_limit_they_are_only_counted() -> None:
    refusals = RefusalCounters()
    for code in range(1000):
        refusals.record_refusal(RequestRefusal(RefusalReason.UNSIGNED, "no"), code, "h")
    noticed, beyond = refusals.take_unlogged()
    assert (len(noticed), beyond) == (256, 744)
    assert refusals.counts_by_reason[RefusalReason.UNSIGNED] == 1000
