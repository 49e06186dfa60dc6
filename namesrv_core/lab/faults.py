"""What can be done to a world: a coroutine for each kind of fault, which tells the truth about it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from namesrv_core.fleet.broker import PERIOD
from namesrv_core.fleet.topics import topic_config
from namesrv_core.lab import expecting
from namesrv_core.lab.expecting import MOMENT, RETURN
from namesrv_core.lab.misconfiguring import configure, forget_topic, order_conf, relist
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.stage import Stage, names_of
from namesrv_core.lab.truth import Expected
from namesrv_core.lab.world import Seat, Site, World
from namesrv_core.protocol.codes import RequestCode

_CHUNK = 20
"""Topics in each part of a registration that is split."""


async def _leave(stage: Stage, fault: Fault, *, abruptly: bool) -> None:
    world, seats = stage.world, stage.seats(fault)
    ways = ("channel closed", "channel closed") if abruptly else ("unregistered", "UNREGISTER_BROKER")
    expected = expecting.gone(world, seats, *ways)
    stage.tell(fault.kind, "begin", names_of(seats), expected, addresses=_addresses(seats))
    await asyncio.gather(*(world.down(seat, abruptly=abruptly) for seat in seats))
    # A master that comes back brings all its topics, with the permissions that it has for them.
    groups = {seat.spec.broker_name for seat in seats if seat.spec.is_master}
    world.wiped = {(group, server) for group, server in world.wiped if group not in groups}
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    if fault.address == "new":
        for seat in seats:
            world.move(seat)
    for seat in seats:
        # It is up as far as the truth is concerned: this is who will be heard.
        seat.state = "up"
    stage.tell(fault.kind, "end", names_of(seats), expecting.back(world, seats), addresses=_addresses(seats))
    await world.all_up(seats)


def _addresses(seats: Sequence[Seat]) -> list[str]:
    return [seat.place.address for seat in seats]


async def stop(stage: Stage, fault: Fault) -> None:
    await _leave(stage, fault, abruptly=False)


async def kill(stage: Stage, fault: Fault) -> None:
    await _leave(stage, fault, abruptly=True)


async def freeze(stage: Stage, fault: Fault) -> None:
    world, seats = stage.world, stage.seats(fault)
    expected = [
        item
        for servers, group in expecting.split(world, seats).items()
        for on, least in ((servers, fault.lasts), (expecting.deaf(world, servers, group), 0))
        # It registers as soon as it goes on, though perhaps somewhere else first.
        for item in expecting.silence(world, group, on, least, fault.lasts + RETURN - PERIOD)
    ]
    stage.tell(fault.kind, "begin", names_of(seats), expected, lasts=fault.lasts)
    for seat in seats:
        seat.state = "frozen"
        seat.broker.freeze()
    await asyncio.sleep(fault.lasts)
    stage.tell(fault.kind, "end", names_of(seats))
    for seat in seats:
        seat.state = "up"
    await asyncio.gather(*(seat.broker.thaw() for seat in seats))


async def partition(stage: Stage, fault: Fault) -> None:
    world, seats, sites = stage.world, stage.seats(fault), stage.sites(fault)
    expected = expecting.silence(world, seats, names_of(sites), fault.lasts, fault.lasts + RETURN)
    stage.tell(fault.kind, "begin", [*names_of(seats), *names_of(sites)], expected, lasts=fault.lasts)
    links = [seat.links[site.name] for seat in seats for site in sites]
    for link in links:
        link.is_cut = True
    await asyncio.sleep(fault.lasts)
    stage.tell(fault.kind, "end", [*names_of(seats), *names_of(sites)])
    for link in links:
        link.is_cut = False
        link.drop()


async def slow(stage: Stage, fault: Fault) -> None:
    """Nothing is concluded, unless it is so slow that brokers are missed."""
    world, seats, sites = stage.world, stage.seats(fault), stage.sites(fault)
    expected = expecting.silence(world, seats, names_of(sites), 0, RETURN + 2 * fault.delay)
    on = [*names_of(seats), *names_of(sites)]
    stage.tell(fault.kind, "begin", on, expected, delay=fault.delay, lasts=fault.lasts)
    links = [seat.links[site.name] for seat in seats for site in sites]
    for link in links:
        link.delay = fault.delay
    await asyncio.sleep(fault.lasts)
    stage.tell(fault.kind, "end", on)
    for link in links:
        link.delay = 0


async def impostor(stage: Stage, fault: Fault) -> None:
    """Both registrations win and lose in turn, with every heartbeat."""
    world, seats = stage.world, stage.seats(fault)
    others = [world.seat(seat.spec, suffix=" (impostor)") for seat in seats]
    expected = []
    for seat, other in zip(seats, others, strict=True):
        servers = tuple(name for name in world.sites if world.hears(name, seat))
        where = {"brokerAddr": other.place.address, "holderAddr": seat.place.address}
        each = (seat.name,)
        expected += [
            Expected(("AddressConflict",), servers, MOMENT, where, ("REGISTER_BROKER",), each),
            *_answered(world, seat, servers, fault.lasts),
        ]
        often = ("AddressConflict", "BrokerRegistered")
        expected.append(Expected(often, servers, fault.lasts + MOMENT, each=each, sure=False))
    stage.tell(fault.kind, "begin", names_of(seats), expected, addresses=_addresses(others))
    await world.all_up(others)
    await asyncio.sleep(fault.lasts)
    stage.tell(
        fault.kind, "end", names_of(seats), _unmasked(world, seats, others), addresses=_addresses(others)
    )
    await asyncio.gather(*(world.down(other, abruptly=False) for other in others))
    for other in others:
        del world.seats[other.name]


def _answered(world: World, seat: Seat, servers: Sequence[str], lasts: float) -> list[Expected]:
    """The broker wants its place back with its next heartbeat, if the impostor is still there by then."""
    where = {"brokerAddr": seat.place.address}
    return [
        Expected(("AddressConflict",), on, RETURN, where, each=(seat.name,), sure=is_sure)
        for on, is_sure in expecting.apart(
            servers, [name for name in servers if lasts + (world.silence(name, seat) or 0) > RETURN]
        )
    ]


def _unmasked(world: World, seats: Sequence[Seat], others: Sequence[Seat]) -> list[Expected]:
    """The impostor goes: with the place, if it had it; the broker then takes it with its next heartbeat."""
    found = []
    for seat, other in zip(seats, others, strict=True):
        servers = tuple(name for name in world.sites if world.hears(name, other))
        where = {"brokerAddr": other.place.address, "reason": "unregistered"}
        types = ("BrokerUnregistered", "AddressForgotten")
        found.append(Expected(types, servers, MOMENT, where, ("UNREGISTER_BROKER",)))
        # Who of them registered last decides whether the place is empty until then.
        found.append(Expected(("BrokerRegistered",), servers, RETURN, each=(seat.name,), sure=False))
        led = {"brokerName": seat.spec.broker_name}
        found.append(Expected(("MinBrokerIdChanged",), servers, RETURN, led, sure=False))
    return found


async def join(stage: Stage, fault: Fault) -> None:
    """A slave that says it is of another cluster: the broker's name is in two of them."""
    world = stage.world
    others = []
    for seat in [seat for seat in stage.seats(fault) if seat.spec.is_master]:
        taken = {
            s.spec.broker_id for s in world.seats.values() if s.spec.broker_name == seat.spec.broker_name
        }
        spec = seat.spec._replace(cluster_name=fault.cluster, broker_id=max(taken) + 1)
        others.append(world.seat(spec))
    for other in others:
        other.state = "up"
    expected = [
        item._replace(where={"clusterName": fault.cluster}) if item.types == ("BrokerRegistered",) else item
        for item in expecting.back(world, others)
    ]
    stage.tell(fault.kind, "begin", names_of(others), expected, cluster=fault.cluster)
    await world.all_up(others)
    if fault.lasts:
        await asyncio.sleep(fault.lasts)
        expected = expecting.gone(world, others, "unregistered", "UNREGISTER_BROKER")
        stage.tell(fault.kind, "end", names_of(others), expected, cluster=fault.cluster)
        await asyncio.gather(*(world.down(other, abruptly=False) for other in others))


async def skew(stage: Stage, fault: Fault) -> None:
    """Clocks are set: nobody is to expire for that, and nothing is to be concluded."""
    items: Sequence[Seat] | Sequence[Site]
    items = stage.sites(fault) if fault.namesrvs else stage.seats(fault)
    stage.tell(fault.kind, "begin", names_of(items), seconds=fault.seconds)
    for item in items:
        item.skew += fault.seconds


async def create_topic(stage: Stage, fault: Fault) -> None:
    masters = [seat for seat in stage.seats(fault) if seat.spec.is_master]
    names = (
        [f"{fault.topic}-{number}" for number in range(fault.number)] if fault.number > 1 else [fault.topic]
    )
    expected = []
    for seat in masters:
        servers = tuple(name for name in stage.world.sites if stage.world.hears(name, seat))
        where = {"brokerName": seat.spec.broker_name, "reason": "registration"}
        for name in (names[0], names[-1]):
            told = {**where, "changes.topics": name}
            expected.append(Expected(("TopicsChanged",), servers, MOMENT, told, ("REGISTER_BROKER",)))
        expected += _undone(stage.world, seat, fault)
    stage.tell(fault.kind, "begin", names_of(masters), expected, topic=fault.topic, count=fault.number)
    for seat in masters:
        now = int((stage.world.clock() + seat.skew) * 1000)
        for name in names:
            seat.broker.model.topics.put(topic_config(name, fault.queues), now)
    await asyncio.gather(*(_register(seat, fault, names) for seat in masters))


def _undone(world: World, seat: Seat, fault: Fault) -> list[Expected]:
    """A registration of all topics in a new version puts back the permission that a name server took."""
    group = seat.spec.broker_name
    if fault.registration == "incremental":
        return []
    found = []
    for name in world.sites:
        if world.hears(name, seat) and (group, name) in world.wiped:
            world.wiped.discard((group, name))
            where = {"brokerName": group, "reason": "registration"}
            perms = {"changes.before.perm": 4, "changes.after.perm": 6}
            restored = Expected(("TopicsChanged",), (name,), MOMENT, where | perms, ("REGISTER_BROKER",))
            found.append(restored)
    return found


async def _register(seat: Seat, fault: Fault, names: Sequence[str]) -> None:
    """The topics that are new, or all at once, or all in parts, each of which is another version."""
    topics = seat.broker.model.topics
    if fault.registration == "incremental":
        await seat.broker.register(names)
    elif fault.registration == "all":
        await seat.broker.register()
    else:
        every = list(topics.configs)
        for at in range(0, len(every), _CHUNK):
            await seat.broker.register(every[at : at + _CHUNK])
            topics.move_on(topics.version.timestamp)


async def register(stage: Stage, fault: Fault) -> None:
    world, seats = stage.world, stage.seats(fault)
    expected = []
    for servers, group in expecting.split(world, seats).items():
        each = tuple(seat.name for seat in group)
        expected.append(Expected(("BrokerChanged",), servers, MOMENT, causes=("REGISTER_BROKER",), each=each))
    for seat in seats:
        expected += _undone(world, seat, fault) if seat.spec.is_master else []
    stage.tell(fault.kind, "begin", names_of(seats), expected, registration=fault.registration)
    for seat in seats:
        seat.broker.model.topics.move_on(int((world.clock() + seat.skew) * 1000))
    first = (list(seat.broker.model.topics.configs)[:1] for seat in seats)
    await asyncio.gather(*(_register(seat, fault, names) for seat, names in zip(seats, first, strict=True)))


async def delete_topic(stage: Stage, fault: Fault) -> None:
    masters = [seat for seat in stage.seats(fault) if seat.spec.is_master]
    sites = stage.sites(fault)
    had = any(fault.topic in seat.broker.model.topics.configs for seat in masters if seat.state == "up")
    for seat in masters:
        seat.broker.model.topics.delete(fault.topic, int((stage.world.clock() + seat.skew) * 1000))
    code = RequestCode.DELETE_TOPIC_IN_NAMESRV
    where = {"topic": fault.topic}
    expected = [Expected(("TopicDeleted",), tuple(names_of(sites)), MOMENT, where, (code.name,), sure=had)]
    stage.tell(fault.kind, "begin", names_of(masters), expected, topic=fault.topic)
    for site in sites:
        await stage.world.ask(site.name, code, {"topic": fault.topic})


async def _permit(stage: Stage, fault: Fault, code: RequestCode, event: str) -> None:
    """Of each group once, however many of its brokers are meant."""
    groups = list(dict.fromkeys(seat.spec.broker_name for seat in stage.seats(fault)))
    servers = tuple(names_of(stage.sites(fault)))
    wipes = event == "WritePermWiped"
    expected = [
        # What changes nothing is no event: nobody knows whether others had done the same before.
        Expected((event,), on, MOMENT, {"brokerName": group}, (code.name,), sure=is_new)
        for group in groups
        for on, is_new in expecting.apart(
            servers, [name for name in servers if ((group, name) in stage.world.wiped) != wipes]
        )
    ]
    stage.tell(fault.kind, "begin", [*groups, *servers], expected)
    for server in servers:
        for group in groups:
            await stage.world.ask(server, code, {"brokerName": group})
            change = stage.world.wiped.add if wipes else stage.world.wiped.discard
            change((group, server))


async def wipe(stage: Stage, fault: Fault) -> None:
    await _permit(stage, fault, RequestCode.WIPE_WRITE_PERM_OF_BROKER, "WritePermWiped")


async def unwipe(stage: Stage, fault: Fault) -> None:
    await _permit(stage, fault, RequestCode.ADD_WRITE_PERM_OF_BROKER, "WritePermAdded")


async def kill_namesrv(stage: Stage, fault: Fault) -> None:
    sites = stage.sites(fault)
    stage.tell(fault.kind, "begin", names_of(sites))
    await asyncio.gather(*(site.die() for site in sites))
    await _come_back(stage, fault, sites)


async def restart_namesrv(stage: Stage, fault: Fault) -> None:
    sites = stage.sites(fault)
    expected = [Expected(("ServerStopping",), tuple(names_of(sites)), MOMENT)]
    stage.tell(fault.kind, "begin", names_of(sites), expected)
    await asyncio.gather(*(site.stop() for site in sites))
    await _come_back(stage, fault, sites)


async def _come_back(stage: Stage, fault: Fault, sites: Sequence[Site]) -> None:
    """With empty tables, which fill with the next heartbeats."""
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    world, names = stage.world, tuple(names_of(sites))
    for site in sites:
        site.state = "up"
    world.wiped = {(group, name) for group, name in world.wiped if name not in names}
    seats = [seat for seat in world.seats.values() if seat.state == "up"]
    ready = stage.world.scenario.waiting + MOMENT
    expected = [Expected(("ServerStarted",), names, MOMENT), Expected(("ServerReady",), names, ready)]
    for item in expecting.back(world, seats, RETURN):
        on = tuple(name for name in item.on if name in names)
        expected += [item._replace(on=on)] if on else []
    stage.tell(fault.kind, "end", names, expected)
    for site in sites:
        await site.start()


async def pause_namesrv(stage: Stage, fault: Fault) -> None:
    world, sites = stage.world, stage.sites(fault)
    names = tuple(names_of(sites))
    seats = [seat for seat in world.seats.values() if seat.state == "up"]
    about = {"min": (fault.lasts - 1.5) * 1000, "max": (fault.lasts + 0.5) * 1000}
    seen = Expected(("ServerPaused",), names, fault.lasts + MOMENT, {"pauseMillis": about}, ("name server",))
    expected = [seen._replace(sure=fault.lasts > 6.5)]
    expected += expecting.silence(world, seats, names, 0, fault.lasts + RETURN)
    stage.tell(fault.kind, "begin", names, expected, lasts=fault.lasts)
    for site in sites:
        site.freeze()
    await asyncio.sleep(fault.lasts)
    stage.tell(fault.kind, "end", names)
    for site in sites:
        site.thaw()


Act = Callable[[Stage, Fault], Awaitable[None]]

FAULTS: Mapping[str, Act] = {
    "stop": stop,
    "kill": kill,
    "restart": stop,
    "storm": kill,
    "freeze": freeze,
    "partition": partition,
    "slow": slow,
    "impostor": impostor,
    "join": join,
    "createTopic": create_topic,
    "deleteTopic": delete_topic,
    "register": register,
    "wipe": wipe,
    "unwipe": unwipe,
    "killNamesrv": kill_namesrv,
    "restartNamesrv": restart_namesrv,
    "pauseNamesrv": pause_namesrv,
    "skew": skew,
    "relist": relist,
    "configure": configure,
    "forgetTopic": forget_topic,
    "orderConf": order_conf,
}
