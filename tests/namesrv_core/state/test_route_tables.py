"""The invariants between the tables, kept by any sequence of operations."""

from collections import Counter
from collections.abc import Iterator

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from namesrv_core.errors import RequestError
from namesrv_core.events import RegistrationRefused
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.state import topics, write_permissions
from namesrv_core.state.broker_tables import BrokerIndex
from namesrv_core.state.liveness import find_expired_brokers, record_heartbeat
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.routes import encode_route_body, find_route
from namesrv_core.state.unregistration import leave_in_steps
from tests.support.brokers import TableHarness, make_queue, make_topic

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


def answers(lab: TableHarness) -> list[object]:
    """Every answer about routes that these tables give."""
    bodies: list[object] = []
    for name in ("T", "U", "V"):
        for acting in (False, True):
            route = find_route(lab.tables, name, acting)
            bodies.append(route and encode_route_body(route, None, is_standard=True))
    return bodies


class Operations(RuleBasedStateMachine):
    """Brokers of two names in two clusters come, go, change places and share channels and addresses."""

    @initialize(delete_missing=st.booleans())
    def begin(self, delete_missing: bool) -> None:
        self.lab = TableHarness(delete_missing)
        self.now = 0
        self.generation = 0
        self.answers = answers(self.lab)
        self.departures: Iterator[object] = iter(())
        self.refused_keys: set[tuple[str, str]] = set()

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
        before = self.lab.copy_tables()
        # Mappings come with the topic they belong to, as brokers send them, and only from masters.
        mapped = mapped and broker_id == 0
        try:
            self.lab.register_broker(
                name,
                broker_id,
                None if table is None else [make_topic(item, perm) for item, perm in table.items()],
                addr=addr,
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
            assert self.lab.copy_tables() == before
        else:
            if any(isinstance(event, RegistrationRefused) for event in self.lab.events):
                self.refused_keys.add((cluster, addr))

    @rule(name=NAMES, broker_id=IDS, addr=ADDRS, cluster=CLUSTERS)
    def unregister(self, name: str, broker_id: int, addr: str, cluster: str) -> None:
        self.lab.unregister_broker(name, broker_id, addr=addr, cluster=cluster)

    @rule(channel=CHANNELS)
    def close(self, channel: int) -> None:
        self.take_all_steps()
        self.lab.close_channel(channel)
        assert list(self.lab.tables.live_keys_on_channel(channel)) == []

    @rule(passed=st.sampled_from([1, 11, 60_000]))
    def let_time_pass(self, passed: int) -> None:
        self.take_all_steps()
        self.now += passed
        self.departures = leave_in_steps(self.lab.tables, [find_expired_brokers(self.lab.tables, self.now)])

    @rule()
    def take_a_step(self) -> None:
        next(self.departures, None)

    def take_all_steps(self) -> None:
        """Complete the departures that are under way, of which other requests have come between the steps."""
        for _ in self.departures:
            pass

    @rule(cluster=CLUSTERS, addr=ADDRS)
    def hear(self, cluster: str, addr: str) -> None:
        record_heartbeat(self.lab.tables, (cluster, addr), self.now)

    @rule(name=NAMES)
    def wipe(self, name: str) -> None:
        write_permissions.wipe_write_permission(self.lab.tables, name)

    @rule(name=NAMES)
    def add(self, name: str) -> None:
        write_permissions.add_write_permission(self.lab.tables, name)

    @rule(name=TOPICS, cluster=st.none() | CLUSTERS)
    def delete_topic(self, name: str, cluster: str | None) -> None:
        topics.delete_topic(self.lab.tables, name, cluster)

    @rule(name=TOPICS, brokers=st.lists(st.builds(make_queue, NAMES, PERMS), max_size=2))
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
        counts = Counter(self.lab.tables.placements_by_topic.values())
        assert all(placement.topic_count == count for placement, count in counts.items())

    @invariant()
    def topics_are_counted_for_each_broker(self) -> None:
        counts = Counter(name for queues in self.lab.queues.values() for name in queues)
        assert self.lab.tables.topic_counts == counts

    @invariant()
    def every_member_is_alive_in_a_cluster_that_lists_it(self) -> None:
        """So each of them leaves with its channel, or when its time is over."""
        tables = self.lab.tables
        holders: dict[tuple[str, int], list[tuple[str, str]]] = {}
        for live_key in tables.live_brokers:
            for group, broker_id in tables.members_at_addr(live_key):
                holders.setdefault((group.broker_name, broker_id), []).append(live_key)
        for name, group in tables.broker_groups.items():
            for broker_id, addr in group.broker_addrs.items():
                assert holders.pop((name, broker_id))
                assert addr in {key[1] for key in tables.live_brokers}
        assert not holders

    @invariant()
    def a_channel_is_known_by_the_brokers_that_have_registered_over_it(self) -> None:
        tables = self.lab.tables
        for channel in range(1, 4):
            assert set(tables.live_keys_on_channel(channel)) == {
                key for key, live in tables.live_brokers.items() if live.channel_id == channel
            }

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
            n in tables.broker_names_by_cluster[g.cluster_name] for n, g in tables.broker_groups.items()
        )

    @invariant()
    def a_group_has_members_each_at_an_address_of_its_own(self) -> None:
        for group in self.lab.tables.broker_groups.values():
            assert group.broker_addrs
            assert len(set(group.broker_addrs.values())) == len(group.broker_addrs)

    @invariant()
    def filters_belong_to_brokers_that_are_alive_or_were_refused(self) -> None:
        assert (
            self.lab.tables.filter_servers.keys() <= self.lab.tables.live_brokers.keys() | self.refused_keys
        )
        assert all(self.lab.tables.filter_servers.values())

    @invariant()
    def the_generation_moves_with_every_answer_about_routes(self) -> None:
        now = answers(self.lab)
        assert now == self.answers or self.lab.tables.generation > self.generation
        self.answers, self.generation = now, self.lab.tables.generation

    def teardown(self) -> None:
        """When all is silent for long enough, nothing is left, also in the indexes."""
        self.take_all_steps()
        self.lab.expire_channels(self.now + FOREVER)
        for key in self.refused_keys:
            self.lab.tables.filter_servers.pop(key, None)
        assert self.lab.is_empty()
        assert not any(getattr(self.lab.tables._index, name) for name in BrokerIndex.__slots__)
        assert not self.lab.tables._mapped_topics


TestAnyOperations = Operations.TestCase
TestAnyOperations.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)


def test_equal_queues_are_one_record() -> None:
    tables = RouteTables()
    for name in ("T", "U"):
        tables.set_queue(name, make_queue("a"))
    assert tables.queues_of_topic("T")["a"] is tables.queues_of_topic("U")["a"]


def test_the_memory_for_equal_queues_is_bounded() -> None:
    tables = RouteTables()
    for number in range(20_010):
        tables.share_queue(make_queue("a", queues=number))
    assert len(tables._shared_queues) <= 16_384


def test_dropping_what_is_not_there_is_no_change() -> None:
    tables = RouteTables()
    assert tables.drop_queue("T", "a") is None
    tables.set_queue("T", make_queue("a"))
    assert tables.drop_queue("T", "b") is None
    assert tables.set_queue("T", make_queue("a")) is None
