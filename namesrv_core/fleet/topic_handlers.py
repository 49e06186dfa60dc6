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


def create_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    header = headers.read_header(broker_headers.CreateTopic, command.ext)
    topic = model.topic_table.require_valid_name(header.topic)
    filter_type = (command.ext or {}).get("topicFilterType")
    if filter_type not in _FILTER_TYPES:
        raise RequestError(f"topicFilterType = [{filter_type or 'null'}] value invalid")
    current = model.topic_table.configs.get(topic, {})
    config = make_topic_config(
        topic,
        header.read_queue_nums,
        header.perm,
        parse_attribute_changes(current.get("attributes", {}), header.attributes),
        write_queues=header.write_queue_nums,
        sys_flag=header.topic_sys_flag or 0,
        is_ordered=header.order,
        filter_type=filter_type,
    )
    changed = model.topic_table.put_config(config, now_ms)
    return HandlerOutcome(remark=NO_RESPONSE_CODE_REMARK, needs_registration=changed, changed_topics=(topic,))


def create_topics(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    """Create a list of topics. If one of them exists unchanged, the broker does nothing, with success."""
    listed = json_bodies.require_object(fastjson.decode_json(command.body)).get("topicConfigList") or ()
    wanted = [json_bodies.require_object(wanted) for wanted in listed]
    topics = tuple(model.topic_table.require_valid_name(wanted.get("topicName")) for wanted in wanted)
    if any(
        model.topic_table.configs.get(topic) == wanted for topic, wanted in zip(topics, wanted, strict=True)
    ):
        return HandlerOutcome()
    for topic, wanted_config in zip(topics, wanted, strict=True):
        current = model.topic_table.configs.get(topic, {}).get("attributes", {})
        model.topic_table.put_config(
            {
                **wanted_config,
                "attributes": change_known_attributes(current, wanted_config.get("attributes")),
            },
            now_ms,
        )
    return HandlerOutcome(needs_registration=True, changed_topics=topics)


def delete_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = model.topic_table.require_valid_name(headers.read_header(headers.DeleteTopic, command.ext).topic)
    if model.topic_table.delete_topic(topic, now_ms):
        model.offsets.forget_topic(topic)
    return HandlerOutcome()


def list_topic_configs(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    version = model.topic_table.data_version
    body = {
        "dataVersion": version.to_json(),
        "mappingDataVersion": DataVersion().to_json(),
        "topicConfigTable": {
            topic: model.topic_table.configs[topic] for topic in _topic_name_page(model, command.ext or {})
        },
        "topicQueueMappingDetailMap": {},
        "topicQueueMappingInfoMap": {},
    }
    return HandlerOutcome(fastjson.encode_json(body), {"totalTopicNum": str(len(model.topic_table.configs))})


def _topic_name_page(model: BrokerModel, ext_fields: ExtFields) -> list[str]:
    """All names, or a page of them. Paging starts over if the table changed since the previous page."""
    topics = sorted(model.topic_table.configs)
    if not ext_fields.get("maxTopicNum"):
        return topics
    first_index, page_size = (fastjson.to_int(ext_fields.get(name)) for name in ("topicSeq", "maxTopicNum"))
    known = ext_fields.get("dataVersion")
    if first_index and (
        not known or fastjson.decode_json(known.encode()) != model.topic_table.data_version.to_json()
    ):
        first_index = 0
    return topics[first_index : first_index + page_size]


def get_topic_config(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic
    config = model.topic_table.configs.get(topic or "")
    if config is None:
        raise TopicNotExist(f"No topic in this broker. topic: {topic}")
    return HandlerOutcome(fastjson.encode_json(config))


def list_system_topics(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(json_bodies.encode_topic_list(sorted(model.topic_table.reserved_names)))


def list_groups_of_topic(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    topic = headers.read_header(headers.TopicName, command.ext).topic or ""
    return HandlerOutcome(fastjson.encode_json({"groupList": model.offsets.groups_of_topic(topic)}))


def get_topic_stats(model: BrokerModel, command: RemotingCommand, now_ms: int) -> HandlerOutcome:
    return HandlerOutcome(
        stats.topic_stats_json(model, headers.read_header(headers.TopicName, command.ext).topic or "", now_ms)
    )
