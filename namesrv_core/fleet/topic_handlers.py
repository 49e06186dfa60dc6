"""The handlers for requests about topics. Pure. The remarks are those of 5.5.0."""

from namesrv_core.errors import RequestError, TopicNotExist
from namesrv_core.fleet import stats
from namesrv_core.fleet.broker_model import BrokerModel
from namesrv_core.fleet.handler_outcome import NO_RESPONSE_CODE_REMARK, HandlerOutcome
from namesrv_core.fleet.topics import change_known_attributes, make_topic_config, parse_attribute_changes
from namesrv_core.protocol import broker_headers, fastjson, headers, json_bodies
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from namesrv_core.protocol.json_bodies import DataVersion

_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


def create_topic(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    request_header = headers.read_header(broker_headers.CreateTopic, command.ext)
    topic = broker_model.topic_table.require_valid_name(request_header.topic)
    filter_type = (command.ext or {}).get("topicFilterType")
    if filter_type not in _FILTER_TYPES:
        raise RequestError(f"topicFilterType = [{filter_type or 'null'}] value invalid")
    current_config = broker_model.topic_table.configs.get(topic, {})
    new_config = make_topic_config(
        topic,
        request_header.read_queue_nums,
        request_header.perm,
        parse_attribute_changes(current_config.get("attributes", {}), request_header.attributes),
        write_queues=request_header.write_queue_nums,
        sys_flag=request_header.topic_sys_flag or 0,
        is_ordered=request_header.order,
        filter_type=filter_type,
    )
    is_changed = broker_model.topic_table.put_config(new_config, now_ms)
    return HandlerOutcome(
        remark=NO_RESPONSE_CODE_REMARK, needs_registration=is_changed, changed_topics=(topic,)
    )


def create_topics(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Create a list of topics. If one of them exists unchanged, the broker does nothing, with success."""
    listed_configs = (
        json_bodies.require_object(fastjson.decode_json(command.body)).get("topicConfigList") or ()
    )
    wanted_configs = [json_bodies.require_object(wanted_config) for wanted_config in listed_configs]
    topic_names = tuple(
        broker_model.topic_table.require_valid_name(wanted_config.get("topicName"))
        for wanted_config in wanted_configs
    )
    if any(
        broker_model.topic_table.configs.get(topic) == wanted_config
        for topic, wanted_config in zip(topic_names, wanted_configs, strict=True)
    ):
        return HandlerOutcome()
    for topic, wanted_config in zip(topic_names, wanted_configs, strict=True):
        current_attributes = broker_model.topic_table.configs.get(topic, {}).get("attributes", {})
        broker_model.topic_table.put_config(
            {
                **wanted_config,
                "attributes": change_known_attributes(current_attributes, wanted_config.get("attributes")),
            },
            now_ms,
        )
    return HandlerOutcome(needs_registration=True, changed_topics=topic_names)


def delete_topic(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = broker_model.topic_table.require_valid_name(
        headers.read_header(headers.DeleteTopic, command.ext).topic
    )
    if broker_model.topic_table.delete_topic(topic, now_ms):
        broker_model.offsets.forget_topic(topic)
    return HandlerOutcome()


def list_topic_configs(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    data_version = broker_model.topic_table.data_version
    json_body = {
        "dataVersion": data_version.to_json(),
        "mappingDataVersion": DataVersion().to_json(),
        "topicConfigTable": {
            topic: broker_model.topic_table.configs[topic]
            for topic in _topic_name_page(broker_model, command.ext or {})
        },
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }
    return HandlerOutcome(
        fastjson.encode_json(json_body), {"totalTopicNum": str(len(broker_model.topic_table.configs))}
    )


def _topic_name_page(broker_model: BrokerModel, ext_fields: ExtFields) -> list[str]:
    """All names, or a page of them. Paging starts over if the table changed since the previous page."""
    topic_names = sorted(broker_model.topic_table.configs)
    if not ext_fields.get("maxTopicNum"):
        return topic_names
    first_index, page_size = (
        fastjson.to_int(ext_fields.get(field_name)) for field_name in ("topicSeq", "maxTopicNum")
    )
    known_version = ext_fields.get("dataVersion")
    if first_index and (
        not known_version
        or fastjson.decode_json(known_version.encode()) != broker_model.topic_table.data_version.to_json()
    ):
        first_index = 0
    return topic_names[first_index : first_index + page_size]


def get_topic_config(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic
    topic_config_json = broker_model.topic_table.configs.get(topic or "")
    if topic_config_json is None:
        raise TopicNotExist(f"No topic in this broker. topic: {topic}")
    return HandlerOutcome(fastjson.encode_json(topic_config_json))


def list_system_topics(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(json_bodies.encode_topic_list(sorted(broker_model.topic_table.reserved_names)))


def list_groups_of_topic(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic or ""
    return HandlerOutcome(fastjson.encode_json({"groupList": broker_model.offsets.groups_of_topic(topic)}))


def get_topic_stats(broker_model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.topic_stats_json(
            broker_model, headers.read_header(headers.TopicName, command.ext).topic or "", now_ms
        )
    )
