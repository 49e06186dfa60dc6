"""What a cluster is to have to YAML, to the byte, and back."""

from hypothesis import given
from hypothesis import strategies as st

from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from nsadmin.operations.plans.yaml_writer import format_cluster

DESIRED = DesiredCluster(
    "cluster-a",
    {
        "payments": ItemSpec(
            {"readQueueNums": 4, "attributes": {"message.type": "FIFO"}}, not_on=("broker-b",)
        ),
        "orders": ItemSpec(
            {"perm": 4}, only_on=("broker-a", "broker-b"), per_broker={"broker-b": {"perm": 6}}
        ),
        "audit": ItemSpec(),
    },
    {"warehouse": ItemSpec({"retryMaxTimes": 3})},
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
    written = format_cluster(DESIRED, ["from two name servers"])
    assert written == TEXT.replace("|-\n      one\n      two", "'one\n\n      two'")
    assert read_desired_cluster(written, "f") == DESIRED


def test_what_is_not_spoken_of_is_not_there() -> None:
    assert format_cluster(DesiredCluster("c", {})).splitlines()[1:] == [
        "version: 1",
        "cluster: c",
        "topics: {}",
    ]


NAMES = st.from_regex(r"[%|a-zA-Z0-9_-]{1,40}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(st.dictionaries(NAMES, st.just(ItemSpec())), st.dictionaries(VALUES, st.dictionaries(VALUES, VALUES)))
def test_names_and_values_come_back_as_they_were(
    topics: dict[str, ItemSpec], kv: dict[str, dict[str, str]]
) -> None:
    kv.pop("ORDER_TOPIC_CONFIG", None)
    desired = DesiredCluster("yes", topics, None, None, kv)
    assert read_desired_cluster(format_cluster(desired), "f") == desired


def test_a_name_in_a_remark_adds_nothing_to_the_cluster() -> None:
    desired = DesiredCluster("c", {})
    written = format_cluster(desired, ["broker a\ntopics: {evil: {}}\n did not answer"])
    assert "# broker a\\ntopics: {evil: {}}\\n did not answer\n" in written
    assert read_desired_cluster(written, "f") == desired
