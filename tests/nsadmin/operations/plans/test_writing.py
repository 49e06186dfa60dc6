"""What a cluster is to have to YAML, to the byte, and back."""

from hypothesis import given
from hypothesis import strategies as st

from nsadmin.operations.plans.reading import read
from nsadmin.operations.plans.records import Desired, Spec
from nsadmin.operations.plans.writing import text_of

DESIRED = Desired(
    "cluster-a",
    {
        "payments": Spec({"readQueueNums": 4, "attributes": {"message.type": "FIFO"}}, not_on=("broker-b",)),
        "orders": Spec({"perm": 4}, only_on=("broker-a", "broker-b"), per_broker={"broker-b": {"perm": 6}}),
        "audit": Spec(),
    },
    {"warehouse": Spec({"retryMaxTimes": 3})},
    {"orders": "broker-a:8;broker-b:8"},
    {"DEPLOYMENT": {"stage": "canary", "flag": "yes", "lines": "one\ntwo"}, "AUDIT": {}},
)
TEXT = """\
# yaml-language-server: $schema=cluster.schema.json
# from two name servers
version: 1
cluster: cluster-a
topics:
  audit: {}
  orders:
    perm: 4
    onlyOn: [broker-a, broker-b]
    perBroker:
      broker-b: {perm: 6}
  payments: {readQueueNums: 4, attributes: {message.type: FIFO}, notOn: [broker-b]}
groups:
  warehouse: {retryMaxTimes: 3}
orderConf:
  orders: broker-a:8;broker-b:8
kv:
  AUDIT: {}
  DEPLOYMENT:
    flag: 'yes'
    lines: |-
      one
      two
    stage: canary
"""


def test_a_whole_file() -> None:
    written = text_of(DESIRED, ["from two name servers"])
    assert written == TEXT.replace("|-\n      one\n      two", "'one\n\n      two'")
    assert read(written, "f") == DESIRED


def test_what_is_not_spoken_of_is_not_there() -> None:
    assert text_of(Desired("c", {})).splitlines()[1:] == ["version: 1", "cluster: c", "topics: {}"]


NAMES = st.from_regex(r"[%|a-zA-Z0-9_-]{1,40}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.dictionaries(NAMES, st.just(Spec())), st.dictionaries(VALUES, st.dictionaries(VALUES, VALUES)))
def test_names_and_values_come_back_as_they_were(
    topics: dict[str, Spec], kv: dict[str, dict[str, str]]
) -> None:
    kv.pop("ORDER_TOPIC_CONFIG", None)
    desired = Desired("yes", topics, None, None, kv)
    assert read(text_of(desired), "f") == desired
