"""Refusals: counted for ever, noticed within bounds."""

from namesrv_core.state.refusals import Notice, Noticed, Reason, Refusal, Refusals


def test_all_reasons_are_counted_from_the_start() -> None:
    refusals = Refusals()
    assert refusals.counts == dict.fromkeys(Reason, 0)
    refusals.add(Refusal(Reason.ROLE, "no"), 318, "h")
    refusals.add(Refusal(Reason.ROLE, "no"), 318, "h")
    assert (refusals.counts[Reason.ROLE], sum(refusals.counts.values())) == (2, 2)


def test_what_is_alike_is_noticed_once_with_the_key_that_was_named_last() -> None:
    refusals = Refusals()
    for key in ("a", "b" * 1000):
        refusals.add(Refusal(Reason.UNKNOWN_KEY, "no", key), 318, "h")
    refusals.add(Refusal(Reason.UNSIGNED, "no"), 318, "h")
    assert refusals.take() == (
        {
            Notice(Reason.UNKNOWN_KEY, 318, "h"): Noticed(2, "b" * 64),
            Notice(Reason.UNSIGNED, 318, "h"): Noticed(1, None),
        },
        0,
    )
    assert refusals.take() == ({}, 0)


def test_beyond_a_limit_they_are_only_counted() -> None:
    refusals = Refusals()
    for code in range(1000):
        refusals.add(Refusal(Reason.UNSIGNED, "no"), code, "h")
    noticed, beyond = refusals.take()
    assert (len(noticed), beyond) == (256, 744)
    assert refusals.counts[Reason.UNSIGNED] == 1000
