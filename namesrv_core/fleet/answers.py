"""What a simulated broker answers: request code -> handler, a table. Pure; the remarks are 5.5.0's own.

A handler may want name servers to be told before its answer leaves, as a real broker tells them.
"""

from collections.abc import Callable
from typing import NamedTuple

from namesrv_core.errors import NotSupported, RequestError, ResponseCode, TopicNotExist
from namesrv_core.fleet import clients, messages, orders, replication, stats
from namesrv_core.fleet.model import BrokerModel
from namesrv_core.fleet.topics import altered_attributes, changed_attributes, topic_config
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol import bodies, broker_headers, fastjson, headers
from namesrv_core.protocol.bodies import DataVersion
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, ExtFields, reply

_UNSET = "not set any response code"
_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


class Outcome(NamedTuple):
    """An answer's parts, and whether name servers have to hear first: `topics` None means of all topics."""

    body: bytes = b""
    ext: ExtFields | None = None
    remark: str | None = None
    registers: bool = False
    topics: tuple[str, ...] | None = None
    code: int = ResponseCode.SUCCESS


Handler = Callable[[BrokerModel, Command, int], Outcome]


def answer(model: BrokerModel, asked: Command, now: int) -> tuple[Command, Outcome]:
    """The answer to a request, and what else came of it; refusals are answers too."""
    try:
        handler = _HANDLERS.get(asked.code)
        if handler is None:
            raise NotSupported(f" request type {asked.code} not supported")
        outcome = handler(model, asked, now)
    except RequestError as error:
        return reply(asked, error.code, remark=error.remark), Outcome()
    except ValueError as error:
        return reply(asked, ResponseCode.SYSTEM_ERROR, remark=f"{type(error).__name__}: {error}"), Outcome()
    return reply(asked, outcome.code, ext=outcome.ext, body=outcome.body, remark=outcome.remark), outcome


def _create_topic(model: BrokerModel, asked: Command, now: int) -> Outcome:
    wanted = headers.read(broker_headers.CreateTopic, asked.ext)
    name = model.topics.check(wanted.topic)
    filter_type = (asked.ext or {}).get("topicFilterType")
    if filter_type not in _FILTER_TYPES:
        raise RequestError(f"topicFilterType = [{filter_type or 'null'}] value invalid")
    present = model.topics.configs.get(name, {})
    config = topic_config(
        name,
        wanted.read_queue_nums,
        wanted.perm,
        altered_attributes(present.get("attributes", {}), wanted.attributes),
        write_queues=wanted.write_queue_nums,
        sys_flag=wanted.topic_sys_flag or 0,
        order=wanted.order,
        filter_type=filter_type,
    )
    changed = model.topics.put(config, now)
    return Outcome(remark=_UNSET, registers=changed, topics=(name,))


def _create_topics(model: BrokerModel, asked: Command, now: int) -> Outcome:
    """A list. One topic that is there in just this way has the broker do nothing at all, with success."""
    listed = bodies.as_object(fastjson.loads(asked.body)).get("topicConfigList") or ()
    wanted = [bodies.as_object(item) for item in listed]
    names = tuple(model.topics.check(item.get("topicName")) for item in wanted)
    if any(model.topics.configs.get(name) == item for name, item in zip(names, wanted, strict=True)):
        return Outcome()
    for name, item in zip(names, wanted, strict=True):
        present = model.topics.configs.get(name, {}).get("attributes", {})
        model.topics.put({**item, "attributes": changed_attributes(present, item.get("attributes"))}, now)
    return Outcome(registers=True, topics=names)


def _delete_topic(model: BrokerModel, asked: Command, now: int) -> Outcome:
    name = model.topics.check(headers.read(headers.DeleteTopic, asked.ext).topic)
    if model.topics.delete(name, now):
        model.offsets.forget_topic(name)
    return Outcome()


def _all_topic_config(model: BrokerModel, asked: Command, now: int) -> Outcome:
    version = model.topics.version
    body = {
        "dataVersion": version.to_json(),
        "mappingDataVersion": DataVersion().to_json(),
        "topicConfigTable": {name: model.topics.configs[name] for name in _page(model, asked.ext or {})},
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }
    return Outcome(fastjson.dumps(body), {"totalTopicNum": str(len(model.topics.configs))})


def _page(model: BrokerModel, ext: ExtFields) -> list[str]:
    """All names, or those of a page: it begins anew when the table changed since the page before."""
    names = sorted(model.topics.configs)
    if not ext.get("maxTopicNum"):
        return names
    start, size = (fastjson.to_int(ext.get(key)) for key in ("topicSeq", "maxTopicNum"))
    seen = ext.get("dataVersion")
    if start and (not seen or fastjson.loads(seen.encode()) != model.topics.version.to_json()):
        start = 0
    return names[start : start + size]


def _topic_config(model: BrokerModel, asked: Command, now: int) -> Outcome:
    name = headers.read(headers.TopicName, asked.ext).topic
    config = model.topics.configs.get(name or "")
    if config is None:
        raise TopicNotExist(f"No topic in this broker. topic: {name}")
    return Outcome(fastjson.dumps(config))


def _system_topics(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(bodies.topic_list(sorted(model.topics.reserved)))


def _figures(model: BrokerModel, asked: Command, now: int) -> Outcome:
    table = model.traffic.runtime_info(now)
    path = model.properties["storePathCommitLog"]
    return Outcome(bodies.kv_table({**table, f"commitLogDiskRatio_{path}": table["commitLogDiskRatio"]}))


def _get_config(model: BrokerModel, asked: Command, now: int) -> Outcome:
    version = fastjson.dumps(model.properties.version.to_json()).decode()
    return Outcome(model.properties.body, {"version": version})


def _update_config(model: BrokerModel, asked: Command, now: int) -> Outcome:
    permission_changed = model.properties.update(asked.body, now)
    if permission_changed:
        model.topics.move_on(now)
    return Outcome(registers=permission_changed)


def _groups_of_topic(model: BrokerModel, asked: Command, now: int) -> Outcome:
    topic = headers.read(headers.TopicName, asked.ext).topic or ""
    return Outcome(fastjson.dumps({"groupList": model.offsets.groups_of(topic)}))


def _topic_stats(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(stats.topic_stats(model, headers.read(headers.TopicName, asked.ext).topic or "", now))


def _consume_stats(model: BrokerModel, asked: Command, now: int) -> Outcome:
    wanted = headers.read(broker_headers.ConsumerGroup, asked.ext)
    return Outcome(stats.consume_stats(model, wanted.consumer_group or "", wanted.topic, now))


def _all_consume_stats(model: BrokerModel, asked: Command, now: int) -> Outcome:
    is_order = headers.read(broker_headers.BrokerConsumeStats, asked.ext).is_order
    return Outcome(stats.all_consume_stats(model, is_order, now))


def _all_offsets(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(stats.all_offsets(model, now))


def _all_groups(model: BrokerModel, asked: Command, now: int) -> Outcome:
    body = {
        "dataVersion": model.groups.version.to_json(),
        "forbiddenTable": {},
        "subscriptionGroupTable": model.groups.configs,
    }
    return Outcome(fastjson.dumps(body), {"totalGroupNum": str(len(model.groups.configs))})


def _update_group(model: BrokerModel, asked: Command, now: int) -> Outcome:
    model.groups.put(bodies.as_object(fastjson.loads(asked.body)), now)
    return Outcome()


def _update_groups(model: BrokerModel, asked: Command, now: int) -> Outcome:
    for item in bodies.as_object(fastjson.loads(asked.body)).get("groupConfigList") or ():
        model.groups.put(bodies.as_object(item), now)
    return Outcome()


def _delete_group(model: BrokerModel, asked: Command, now: int) -> Outcome:
    """Its clients go with it: nobody is here to make it anew."""
    wanted = headers.read(broker_headers.DeleteGroup, asked.ext)
    name = wanted.group_name or ""
    if model.groups.delete(name, now):
        model.offsets.stop(name, model.queues, now, forget=wanted.clean_offset)
    return Outcome()


def _offset(offset: int) -> Outcome:
    return Outcome(ext={"offset": str(offset)})


def _query_offset(model: BrokerModel, asked: Command, now: int) -> Outcome:
    key = headers.read(broker_headers.ConsumerOffset, asked.ext)
    return _offset(stats.committed(model, key.consumer_group or "", key.topic or "", key.queue_id, now))


def _update_offset(model: BrokerModel, asked: Command, now: int) -> Outcome:
    key = headers.read(broker_headers.ConsumerOffset, asked.ext)
    group, topic = key.consumer_group or "", key.topic or ""
    stats.check_known(model, group, topic)
    model.offsets.move((group, topic, key.queue_id), key.commit_offset or 0, now)
    return Outcome()


def _reset_offset(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(stats.reset(model, headers.read(broker_headers.ResetOffset, asked.ext), now))


def _max_offset(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return _offset(stats.end_of(model, headers.read(broker_headers.QueueOffset, asked.ext), now))


def _min_offset(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return _offset(stats.begin_of(model, headers.read(broker_headers.QueueOffset, asked.ext), now))


def _offset_at(model: BrokerModel, asked: Command, now: int) -> Outcome:
    """The first message that was stored at that time or later."""
    wanted = headers.read(broker_headers.QueueOffset, asked.ext)
    return _offset(stats.end_of(model, wanted, min((wanted.timestamp or 0) - 1, now)))


def _pull(model: BrokerModel, asked: Command, now: int) -> Outcome:
    found = messages.pull(model, headers.read(broker_headers.PullMessage, asked.ext), now)
    return Outcome(found.body, found.ext, code=found.code)


def _query_message(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(*messages.query(model, headers.read(broker_headers.QueryMessage, asked.ext), now))


def _view_message(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(messages.view(model, headers.read(broker_headers.ViewMessage, asked.ext).offset or 0, now))


def _consumers(model: BrokerModel, asked: Command, now: int) -> Outcome:
    group = headers.read(broker_headers.ConsumerGroup, asked.ext).consumer_group or ""
    return Outcome(clients.consumer_connection(model, group))


def _running_info(model: BrokerModel, asked: Command, now: int) -> Outcome:
    wanted = headers.read(broker_headers.ConsumerClient, asked.ext)
    group, client_id = wanted.consumer_group or "", wanted.client_id or ""
    return Outcome(clients.running_info(model, group, client_id, wanted.jstack_enable, now))


def _producers(model: BrokerModel, asked: Command, now: int) -> Outcome:
    group = headers.read(broker_headers.ProducerGroup, asked.ext).producer_group or ""
    return Outcome(clients.producer_connection(model, group))


def _all_producers(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(clients.all_producers(model, now))


def _ha_status(model: BrokerModel, asked: Command, now: int) -> Outcome:
    return Outcome(replication.ha_status(model, now))


def _counters(model: BrokerModel, asked: Command, now: int) -> Outcome:
    wanted = headers.read(broker_headers.ViewBrokerStats, asked.ext)
    return Outcome(stats.counters(model, wanted.stats_name or "", wanted.stats_key or "", now))


def _clean(model: BrokerModel, asked: Command, now: int) -> Outcome:
    """Orders about files, of which there are none."""
    return Outcome()


def _users(act: Callable[[UserTable, ExtFields, bytes], bytes | None]) -> Handler:
    """A handler of one request about users or ACLs, which all are ext fields and a body."""

    def handle(model: BrokerModel, asked: Command, now: int) -> Outcome:
        return Outcome(act(model.users, asked.ext or {}, asked.body) or b"", remark=_UNSET)

    return handle


def _order(act: Callable[[BrokerModel, Command, int], orders.Answer]) -> Handler:
    """A handler of one order, which is answered with a body or a remark."""

    def handle(model: BrokerModel, asked: Command, now: int) -> Outcome:
        body, remark = act(model, asked, now)
        return Outcome(body, remark=remark)

    return handle


def _min_broker_id_changed(model: BrokerModel, asked: Command, now: int) -> Outcome:
    """Of use to acting masters only, which these are not."""
    return Outcome()


_HANDLERS: dict[int, Handler] = {
    RequestCode.PULL_MESSAGE: _pull,
    RequestCode.QUERY_MESSAGE: _query_message,
    RequestCode.QUERY_CONSUMER_OFFSET: _query_offset,
    RequestCode.UPDATE_CONSUMER_OFFSET: _update_offset,
    RequestCode.UPDATE_AND_CREATE_TOPIC: _create_topic,
    RequestCode.UPDATE_AND_CREATE_TOPIC_LIST: _create_topics,
    RequestCode.GET_ALL_TOPIC_CONFIG: _all_topic_config,
    RequestCode.GET_ALL_CONSUMER_OFFSET: _all_offsets,
    RequestCode.UPDATE_BROKER_CONFIG: _update_config,
    RequestCode.GET_BROKER_CONFIG: _get_config,
    RequestCode.GET_BROKER_RUNTIME_INFO: _figures,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: _offset_at,
    RequestCode.GET_MAX_OFFSET: _max_offset,
    RequestCode.GET_MIN_OFFSET: _min_offset,
    RequestCode.VIEW_MESSAGE_BY_ID: _view_message,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: _update_group,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST: _update_groups,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: _all_groups,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: _consumers,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: _producers,
    RequestCode.DELETE_SUBSCRIPTIONGROUP: _delete_group,
    RequestCode.DELETE_TOPIC_IN_BROKER: _delete_topic,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: _reset_offset,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: _groups_of_topic,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: _system_topics,
    RequestCode.GET_TOPIC_CONFIG: _topic_config,
    RequestCode.GET_TOPIC_STATS_INFO: _topic_stats,
    RequestCode.GET_CONSUME_STATS: _consume_stats,
    RequestCode.GET_CONSUMER_RUNNING_INFO: _running_info,
    RequestCode.VIEW_BROKER_STATS_DATA: _counters,
    RequestCode.GET_BROKER_CONSUME_STATS: _all_consume_stats,
    RequestCode.GET_ALL_PRODUCER_INFO: _all_producers,
    RequestCode.GET_BROKER_HA_STATUS: _ha_status,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: _clean,
    RequestCode.CLEAN_UNUSED_TOPIC: _clean,
    RequestCode.POP_ROLLBACK: _clean,
    RequestCode.AUTH_CREATE_USER: _users(UserTable.create),
    RequestCode.AUTH_UPDATE_USER: _users(UserTable.update),
    RequestCode.AUTH_DELETE_USER: _users(lambda table, ext, _: table.delete(ext)),
    RequestCode.AUTH_GET_USER: _users(lambda table, ext, _: table.get(ext)),
    RequestCode.AUTH_LIST_USER: _users(lambda table, ext, _: table.list(ext)),
    RequestCode.AUTH_CREATE_ACL: _users(lambda table, _, body: table.put_acl(body)),
    RequestCode.AUTH_UPDATE_ACL: _users(lambda table, _, body: table.put_acl(body)),
    RequestCode.AUTH_DELETE_ACL: _users(lambda table, ext, _: table.delete_acl(ext)),
    RequestCode.AUTH_GET_ACL: _users(lambda table, ext, _: table.get_acl(ext)),
    RequestCode.AUTH_LIST_ACL: _users(lambda table, ext, _: table.list_acls(ext)),
    RequestCode.DELETE_EXPIRED_COMMITLOG: _clean,
    RequestCode.SET_MESSAGE_REQUEST_MODE: _order(orders.set_mode),
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: _order(orders.all_modes),
    RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG: _order(orders.set_threshold),
    RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG: _order(orders.remove_threshold),
    RequestCode.GET_COLD_DATA_FLOW_CTR_INFO: _order(orders.cold_data),
    RequestCode.SET_COMMITLOG_READ_MODE: _order(orders.set_read_ahead),
    RequestCode.SWITCH_TIMER_ENGINE: _order(orders.switch_timer),
    RequestCode.RESET_MASTER_FLUSH_OFFSET: _order(orders.set_master_flush_offset),
    RequestCode.QUERY_CONSUME_QUEUE: _order(orders.queue_entries),
    RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS: _order(orders.check_rocksdb),
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE: _min_broker_id_changed,
}
