"""Faults of people: lists and settings that are wrong, and what only some name servers are told."""

import asyncio

from namesrv_core.lab import expecting
from namesrv_core.lab.expecting import MOMENT, RETURN
from namesrv_core.lab.scenario import Fault, matching
from namesrv_core.lab.stage import Stage, names_of
from namesrv_core.lab.truth import Expected
from namesrv_core.lab.world import Seat
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.transport.channel import Channel

_REGISTERS = ("REGISTER_BROKER",)
_USUAL_PERM = 6


async def relist(stage: Stage, fault: Fault) -> None:
    """As after a change of the brokers' files: name servers that are in the list no more are left."""
    world, seats = stage.world, stage.seats(fault)
    listed = tuple(matching(fault.namesrvs, world.sites))
    expected = expecting.gone(world, seats, "unregistered", "UNREGISTER_BROKER")
    stage.tell(fault.kind, "begin", names_of(seats), expected, namesrvs=listed)
    await asyncio.gather(*(world.down(seat, abruptly=False) for seat in seats))
    groups = {seat.spec.broker_name for seat in seats}
    world.wiped = {(group, server) for group, server in world.wiped if group not in groups}
    for seat in seats:
        seat.state, seat.servers = "up", listed
    stage.tell(fault.kind, "end", names_of(seats), expecting.back(world, seats), namesrvs=listed)
    await world.all_up(seats)


async def configure(stage: Stage, fault: Fault) -> None:
    """What a broker registers differs only where its permission does."""
    seats = stage.seats(fault)
    expected = [item for seat in seats for item in _restricted(stage, seat, fault)]
    stage.tell(fault.kind, "begin", names_of(seats), expected, key=fault.key, value=fault.value)
    for seat in seats:
        channel = Channel(seat.place.address)
        try:
            body = f"{fault.key}={fault.value}\n".encode()
            await channel.request(request(RequestCode.UPDATE_BROKER_CONFIG, body=body))
        finally:
            channel.close()


def _restricted(stage: Stage, seat: Seat, fault: Fault) -> list[Expected]:
    properties = seat.broker.model.properties
    if fault.key != "brokerPermission" or not seat.spec.is_master or properties[fault.key] == fault.value:
        return []
    servers = tuple(name for name in stage.world.sites if stage.world.hears(name, seat))
    perm = _USUAL_PERM & int(fault.value)
    where = {"brokerName": seat.spec.broker_name, "reason": "registration", "changes.after.perm": perm}
    return [Expected(("TopicsChanged",), servers, MOMENT, where, _REGISTERS)] if servers else []


async def order_conf(stage: Stage, fault: Fault) -> None:
    """Nobody copies it to other name servers."""
    names, code = names_of(stage.sites(fault)), RequestCode.PUT_KV_CONFIG
    ext = {"namespace": ORDER_TOPIC_CONFIG, "key": fault.topic, "value": fault.value}
    written = Expected(("KvPut",), tuple(names), MOMENT, ext, (code.name,))
    stage.tell(fault.kind, "begin", names, [written], topic=fault.topic, value=fault.value)
    for name in names:
        await stage.world.ask(name, code, ext)


async def forget_topic(stage: Stage, fault: Fault) -> None:
    """The brokers still have it: it comes back with their next registrations."""
    world, sites = stage.world, stage.sites(fault)
    code = RequestCode.DELETE_TOPIC_IN_NAMESRV
    deleted = Expected(
        ("TopicDeleted",), tuple(names_of(sites)), MOMENT, {"topic": fault.topic}, (code.name,)
    )
    stage.tell(fault.kind, "begin", names_of(sites), [deleted, *_remembered(stage, fault)], topic=fault.topic)
    for site in sites:
        await world.ask(site.name, code, {"topic": fault.topic})


def _remembered(stage: Stage, fault: Fault) -> list[Expected]:
    world, found = stage.world, []
    for seat in world.seats.values():
        if seat.state == "up" and seat.spec.is_master and fault.topic in seat.broker.model.topics.configs:
            servers = tuple(site.name for site in stage.sites(fault) if world.hears(site.name, seat))
            where = {
                "brokerName": seat.spec.broker_name,
                "reason": "registration",
                "changes.topics": fault.topic,
            }
            found.append(Expected(("TopicsChanged",), servers, RETURN, where, _REGISTERS))
    return found
