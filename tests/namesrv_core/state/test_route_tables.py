"""The invariants between the tables, kept by any sequence of operations."""

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from namesrv_core.errors import RequestError
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.state import topics, write_permissions
from namesrv_core.state.liveness import record_heartbeat
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.table_lookup import encode_route_body, find_route
from tests.support.brokers import Lab, queue, topic

NAMES = st.sampled_from(["a", "b"])
IDS = st.integers(0, 2)
ADDRS = st.sampled_from(["x", "y", "z"])
CLUSTERS = st.sampled_from(["c", "d"])
CHANNELS = st.integers(1, 3)
TOPICS = st.sampled_from(["T", "U", "V"])
PERMS = st.sampled_from([0, 2, 4, 6, 7])
VERSIONS = st.none() | st.builds(DataVersion, st.integers(1, 2), st.integers(0, 1), st.just(1))
TABLES = st.none() | st.dictionaries(TOPICS, PERMS, max_size=3)
FOREVER = 10**9


def answers(lab: Lab) -> list[object]:
    """Every answer about routes that these tables give."""
    bodies: list[object] = []
    for name in ("T", "U", "V"):
        for acting in (False, True):
            found = find_route(lab.tables, name, acting)
            bodies.append(found and encode_route_body(found, None, is_standard=True))
    return bodies


class Operations(RuleBasedStateMachine):
    """Brokers of two names in two clusters come, go, change places and share channels."""

    @initialize(delete_missing=st.booleans())
    def begin(self, delete_missing: bool) -> None:
        self.lab = Lab(delete_missing)
        self.now = 0
        self.generation = 0
        self.answers = answers(self.lab)

    @rule(
        name=NAMES,
        broker_id=IDS,
        addr=ADDRS,
        cluster=CLUSTERS,
        channel=CHANNELS,
        table=TABLES,
        version=VERSIONS,
        filters=st.none() | st.lists(st.just("f"), max_size=1),
        mapped=st.booleans(),
        acting=st.none() | st.booleans(),
        zone=st.none() | st.just("z"),
        timeout=st.none() | st.just(10),
    )
    def register(
        self,
        name: str,
        broker_id: int,
        addr: str,
        cluster: str,
        channel: int,
        table: dict[str, int] | None,
        version: DataVersion | None,
        filters: list[str | None] | None,
        mapped: bool,
        acting: bool | None,
        zone: str | None,
        timeout: int | None,
    ) -> None:
        before = self.lab.picture()
        # Mappings come with the topic they belong to, as brokers send them, and only from masters.
        mapped = mapped and broker_id == 0
        try:
            self.lab.register(
                name,
                broker_id,
                None if table is None else [topic(item, perm) for item, perm in table.items()],
                addr=name + addr,
                cluster=cluster,
                channel=channel,
                version=version,
                filters=filters,
                mappings={item: MappingInfo(item, bname=name) for item in table or ()} if mapped else {},
                acting=acting,
                zone=zone,
                timeout=timeout,
                now=self.now,
            )
        except RequestError:
            assert self.lab.picture() == before

    @rule(name=NAMES, broker_id=IDS, addr=ADDRS, cluster=CLUSTERS)
    def unregister(self, name: str, broker_id: int, addr: str, cluster: str) -> None:
        self.lab.unregister(name, broker_id, addr=name + addr, cluster=cluster)

    @rule(channel=CHANNELS)
    def close(self, channel: int) -> None:
        self.lab.close(channel)
        assert list(self.lab.tables.live_keys_on_channel(channel)) == []

    @rule(passed=st.sampled_from([1, 11, 60_000]))
    def let_time_pass(self, passed: int) -> None:
        self.now += passed
        self.lab.expire(self.now)

    @rule(cluster=CLUSTERS, name=NAMES, addr=ADDRS)
    def hear(self, cluster: str, name: str, addr: str) -> None:
        record_heartbeat(self.lab.tables, (cluster, name + addr), self.now)

    @rule(name=NAMES)
    def wipe(self, name: str) -> None:
        write_permissions.wipe_write_permission(self.lab.tables, name)

    @rule(name=NAMES)
    def add(self, name: str) -> None:
        write_permissions.add_write_permission(self.lab.tables, name)

    @rule(name=TOPICS, cluster=st.none() | CLUSTERS)
    def delete_topic(self, name: str, cluster: str | None) -> None:
        topics.delete_topic(self.lab.tables, name, cluster)

    @rule(name=TOPICS, brokers=st.lists(st.builds(queue, NAMES, PERMS), max_size=2))
    def register_topic(self, name: str, brokers: list[object]) -> None:
        topics.register_topic_queues(self.lab.tables, name, brokers)  # type: ignore[arg-type]

    @invariant()
    def a_topic_is_there_only_while_a_known_broker_has_queues_of_it(self) -> None:
        tables = self.lab.tables
        for queues in self.lab.queues.values():
            assert queues
            assert queues.keys() <= tables.broker_groups.keys()
            assert all(name == item.broker_name for name, item in queues.items())

    @invariant()
    def a_placement_knows_how_many_topics_are_there(self) -> None:
        found = Counter(self.lab.tables.placements_by_topic.values())
        assert all(placement.topic_count == count for placement, count in found.items())

    @invariant()
    def a_mapping_lives_no_longer_than_its_broker_group(self) -> None:
        tables = self.lab.tables
        for infos in tables.queue_mappings.values():
            assert infos
            assert infos.keys() <= tables.broker_groups.keys()

    @invariant()
    def clusters_and_groups_list_each_other(self) -> None:
        tables = self.lab.tables
        listed = [name for names in tables.broker_names_by_cluster.values() for name in names]
        assert all(tables.broker_names_by_cluster.values())
        assert set(listed) == tables.broker_groups.keys()
        assert all(
            name in tables.broker_names_by_cluster[group.cluster_name]
            for name, group in tables.broker_groups.items()
        )

    @invariant()
    def a_group_has_members_each_at_an_address_of_its_own(self) -> None:
        for group in self.lab.tables.broker_groups.values():
            assert group.broker_addrs
            assert len(set(group.broker_addrs.values())) == len(group.broker_addrs)

    @invariant()
    def filters_belong_to_brokers_that_are_alive(self) -> None:
        assert self.lab.tables.filter_servers.keys() <= self.lab.tables.live_brokers.keys()
        assert all(self.lab.tables.filter_servers.values())

    @invariant()
    def the_generation_moves_with_every_answer_about_routes(self) -> None:
        now = answers(self.lab)
        assert now == self.answers or self.lab.tables.generation > self.generation
        self.answers, self.generation = now, self.lab.tables.generation

    def teardown(self) -> None:
        """When all is silent for long enough, nothing is left."""
        self.lab.expire(self.now + FOREVER)
        assert self.lab.is_empty()


TestAnyOperations = Operations.TestCase
TestAnyOperations.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)


def test_equal_queues_are_one_record() -> None:
    tables = RouteTables()
    for name in ("T", "U"):
        tables.set_queue(name, queue("a"))
    assert tables.queues_of_topic("T")["a"] is tables.queues_of_topic("U")["a"]


def test_the_memory_for_equal_queues_is_bounded() -> None:
    tables = RouteTables()
    for number in range(100_010):
        tables.share_queue(queue("a", queues=number))
    assert len(tables._shared_queues) < 100_010


def test_an_address_is_found_with_group_and_id() -> None:
    lab = Lab()
    lab.register("a", 0)
    lab.register("a", 1)
    lab.register("b", 1, addr="a0", cluster="d")
    assert [(group.broker_name, i) for group, i in lab.tables.members_at_addr(("c", "a0"))] == [("a", 0)]
    assert [(group.broker_name, i) for group, i in lab.tables.members_at_addr(("d", "a0"))] == [("b", 1)]
    assert (
        list(lab.tables.members_at_addr(("c", "nowhere")))
        == list(lab.tables.members_at_addr(("x", "a0")))
        == []
    )


def test_dropping_what_is_not_there_is_no_change() -> None:
    tables = RouteTables()
    assert tables.drop_queue("T", "a") is None
    tables.set_queue("T", queue("a"))
    assert tables.drop_queue("T", "b") is None
    assert tables.set_queue("T", queue("a")) is None
