"""What is said about the reason of topics that are open again."""

from typing import Any

from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import NameServerFacts, OwnTopics, ServerTopic
from nsadmin.operations.drain.reopen_causes import ReopenExplainer

OPEN, SHUT = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
SAVED = ("orders", "payments", "history")


def own(version: int, **configs: dict[str, Any]) -> OwnTopics:
    return OwnTopics({"counter": version}, configs)


def facts(addr: str = "h:1", *, shut: tuple[str, ...] = ()) -> NameServerFacts:
    topics = {topic: ServerTopic(SHUT if topic in shut else OPEN) for topic in SAVED}
    return NameServerFacts(addr, None, "C", {0: "b:1"}, topics)


def explain(before: OwnTopics | None, now: OwnTopics | None, **more: Any) -> str:
    explainer = ReopenExplainer()
    explainer.remember_topics(before)
    return explainer.explain_reopening(facts(**more), SAVED, now)


def test_each_setting_that_changed_is_named() -> None:
    before = own(1, orders={"perm": 6, "order": False, "attributes": {}}, payments={"perm": 6})
    now = own(2, orders={"perm": 4, "order": True, "attributes": {"a": "b"}}, refunds={"perm": 6})
    assert explain(before, now) == (
        'the broker registered all its topics after a change: orders attributes {} -> {"a":"b"} and order '
        "false -> true and perm rw- -> r--, payments deleted, refunds created"
    )


def test_a_few_open_topics_were_changed_on_the_broker() -> None:
    before, now = own(1, orders={"writeQueueNums": 4}), own(2, orders={"writeQueueNums": 8})
    shut = ("payments", "history")
    assert explain(before, now, shut=shut) == "changed on the broker: orders writeQueueNums 4 -> 8"
    now = own(2, orders={"writeQueueNums": 4, "topicFilterType": "MULTI_TAG"})
    assert (
        explain(before, now, shut=shut) == "changed on the broker: orders topicFilterType null -> MULTI_TAG"
    )
    assert explain(before, None, shut=shut) == "changed or created on the broker"


def test_a_change_counts_for_the_name_server_that_hears_of_it_later() -> None:
    explainer = ReopenExplainer()
    before, now = own(1, orders={"order": True}), own(2, orders={"order": False})
    explainer.remember_topics(before)
    for addr in ("h:1", "h:2"):
        assert explainer.explain_reopening(facts(addr), SAVED, now).endswith("orders order true -> false")
        explainer.remember_topics(now, addr)
    assert "without a change" in explainer.explain_reopening(facts("h:1"), SAVED, now)
