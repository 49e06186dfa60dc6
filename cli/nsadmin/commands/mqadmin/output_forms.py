"""Formats rows as mqadmin's text, byte for byte, for commands whose text scripts parse. Pure.

Widths, truncation and headings are those of 5.5.0 (upstream's ClusterListSubCommand and so on), with its
quirks: unknown values become 0 or nothing, and times are in the local time zone. There are two differences:
names and brokers are sorted, where mqadmin uses the order of a Java map, and consumerProgress also lists
groups that mqadmin does not find.
"""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.resource_names import GROUP_TOPIC_PREFIXES
from nsadmin.commands.mqadmin import change_forms, client_forms
from nsadmin.commands.mqadmin.java_text import (
    CommandArguments,
    format_fixed,
    format_local_time,
    java_text,
    join_lines,
)
from nsadmin.console.output import ResultRow, ResultRows


def _format_cluster_list(rows: ResultRows, arguments: CommandArguments) -> str:
    if arguments["more"]:
        head_format = "{:<16}  {:<32} {:>14} {:>14} {:>14} {:>14}"
        total_names = ("inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday")
        titles = ("#Cluster Name", "#Broker Name", *(f"#{name[0].upper()}{name[1:]}" for name in total_names))
        lines = [head_format.format(*titles)]
        for row in rows.rows:
            totals = (java_text(row.get(name) or 0) for name in total_names)
            lines.append(
                head_format.format(java_text(row["clusterName"]), java_text(row["brokerName"]), *totals)
            )
        return join_lines(lines)
    head_format = (
        "{:<22}  {:<22}  {:<4}  {:<22} {:<16}  {:>16}  {:>30}  {:<22}  {:<11}  {:<12}  {:<8}  {:<10}"
    )
    row_format = "{:<22}  {:<22}  {:<4}  {:<22} {:<16}  {:>16}  {:>30}  {:<22}  {:>11}  {:<12}  {:<8}  {:>10}"
    column_titles = (
        "#Cluster Name", "#Broker Name", "#BID", "#Addr", "#Version", "#InTPS(LOAD)", "#OutTPS(LOAD)",
        "#Timer(Progress)", "#PCWait(ms)", "#Hour", "#SPACE", "#ACTIVATED",
    )  # fmt: skip
    load_cells = (_cluster_load_cells(row, rows.totals["emptyStoreHours"]) for row in rows.rows)
    return join_lines(
        [head_format.format(*column_titles), *(row_format.format(*cells) for cells in load_cells)]
    )


def _cluster_load_cells(row: ResultRow, empty_store_hours: Mapping[object, float | None]) -> tuple[str, ...]:
    # In its first seconds a broker reports no rates, but other figures.
    has_load = row["brokerAddr"] in empty_store_hours
    queue_texts = {name: _format_queue(row, name, has_load) for name in ("send", "pull", "ack")}
    timer_rates = (format_fixed(row.get(name), 1) for name in ("timerEnqueueTps", "timerDequeueTps"))
    congested_count = format_fixed(float(_int_cell(row, "timerCongestNum")) / 10000, 1)
    timer_text = (
        f"{_int_cell(row, 'timerReadBehind')}-{_int_cell(row, 'timerOffsetBehind')}("
        f"{congested_count}w, {', '.join(timer_rates)})"
    )
    return (
        *(java_text(row[name]) for name in ("clusterName", "brokerName", "brokerId", "brokerAddr")),
        java_text(row.get("version") or ("null" if has_load else "")),
        f"{format_fixed(row.get('inTps'), 2):>9}({queue_texts['send']})",
        f"{format_fixed(row.get('outTps'), 2):>9}({queue_texts['pull']}|{queue_texts['ack']})",
        timer_text,
        java_text(row.get("pageCacheLockTimeMills")) if has_load else "",
        # 4.9 reports the time -1 for an empty store, and mqadmin then prints the hours since 1970.
        format_fixed(row.get("hour") or empty_store_hours.get(row["brokerAddr"]), 2),
        format_fixed(row.get("commitLogDiskRatio"), 4),
        java_text(bool(row.get("brokerActive"))),
    )


def _format_queue(row: ResultRow, queue_name: str, has_load: bool) -> str:
    size_and_wait = (
        row.get(f"{queue_name}ThreadPoolQueue{suffix}") for suffix in ("Size", "HeadWaitTimeMills")
    )
    unknown_text = ("N" if queue_name == "ack" else "null") if has_load else ""
    return "{},{}ms".format(*(unknown_text if value is None else java_text(value) for value in size_and_wait))


def _int_cell(row: ResultRow, column_name: str) -> int:
    value: Any = row.get(column_name)
    return int(value or 0)


def _format_topic_list(rows: ResultRows, arguments: CommandArguments) -> str:
    if not arguments["with_groups"]:
        return join_lines([str(row["topic"]) for row in rows.rows])
    text_lines = [f"{'#Cluster Name':<20}  {'#Topic':<48}  {'#Consumer Group':<48}"]
    for row in rows.rows:
        if str(row["topic"]).startswith(GROUP_TOPIC_PREFIXES):
            continue
        consumer_groups: Any = row["groups"] or [""]
        cluster_name, topic_name = str(row["clusterName"] or "")[:20], str(row["topic"])[:64]
        text_lines += [
            f"{cluster_name:<20}  {topic_name:<64}  {group_name[:64]:<64}" for group_name in consumer_groups
        ]
    return join_lines(text_lines)


_ROUTE_FORMAT = "{:<45} {:<32} {:<50} {:<10} {:<11} {:<5}"


def _format_topic_route(rows: ResultRows | str, arguments: CommandArguments) -> str:
    if isinstance(rows, str):
        return _format_java_json(_drop_nulls(fastjson.decode_json(rows.encode()))) + "\n"
    column_titles = ("#ClusterName", "#BrokerName", "#BrokerAddrs", "#ReadQueue", "#WriteQueue", "#Perm")
    text_lines, queue_totals = [_ROUTE_FORMAT.format(*column_titles)], [0, 0]
    for row in rows.rows:
        broker_addrs: Any = row["brokerAddrs"]
        queue_counts = [_int_cell(row, name) for name in ("readQueueNums", "writeQueueNums")]
        queue_totals = [total + count for total, count in zip(queue_totals, queue_counts, strict=True)]
        addrs = ", ".join(f"{broker_id}={addr}" for broker_id, addr in broker_addrs.items())
        name_texts = (java_text(row["clusterName"]), java_text(row["brokerName"]), f"{{{addrs}}}")
        text_lines.append(_ROUTE_FORMAT.format(*name_texts, *queue_counts, _perm_bits(row["perm"])))
    return join_lines(
        [*text_lines, "-" * 158, _ROUTE_FORMAT.format("Total:", len(rows.rows), "", *queue_totals, "")]
    )


def _perm_bits(perm_cell: Any) -> int:
    return int(perm_cell or 0)


def _drop_nulls(value: Any) -> Any:
    """Drop null members and sort objects by key, as upstream's JSON writer does."""
    if isinstance(value, list):
        return [_drop_nulls(item) for item in value]
    if isinstance(value, dict):
        return {key: _drop_nulls(value[key]) for key in sorted(value, key=str) if value[key] is not None}
    return value


def _format_java_json(value: Any, depth: int = 0) -> str:
    """Format JSON as fastjson does: indented with tabs, and numeric keys without quotes."""
    inner_indent, outer_indent = "\t" * (depth + 1), "\t" * depth
    if isinstance(value, dict) and value:
        entries = (
            f"{inner_indent}{_format_json_key(key)}:{_format_java_json(item, depth + 1)}"
            for key, item in value.items()
        )
        return "{\n" + ",\n".join(entries) + f"\n{outer_indent}}}"
    if isinstance(value, list) and value:
        items = (inner_indent + _format_java_json(item, depth + 1) for item in value)
        return "[\n" + ",\n".join(items) + f"\n{outer_indent}]"
    return fastjson.encode_json(value).decode()


def _format_json_key(key: Any) -> str:
    return str(key) if isinstance(key, int) or str(key).isdigit() else fastjson.encode_json(str(key)).decode()


def _format_topic_status(rows: ResultRows, arguments: CommandArguments) -> str:
    row_format = "{:<32}  {:<4}  {:<20}  {:<20}    {}"
    text_lines = [row_format.format("#Broker Name", "#QID", "#Min Offset", "#Max Offset", "#Last Updated")]
    for row in rows.rows:
        if row.get("queueId") is None:
            continue
        updated_text = format_local_time(row["lastUpdated"], "%Y-%m-%d %H:%M:%S,%f")[:23]
        number_texts = (java_text(row[name]) for name in ("queueId", "minOffset", "maxOffset"))
        text_lines.append(row_format.format(str(row["brokerName"])[:32], *number_texts, updated_text))
    # mqadmin always prints 0.0, because it never adds up the rates.
    return join_lines([*text_lines, "", "Topic Put TPS: 0.0"])


def _format_consumer_progress(rows: ResultRows, arguments: CommandArguments) -> str:
    if arguments["group"] is None:
        return _format_groups(rows)
    with_clients = str(arguments["show_client"]).lower() == "true"
    row_format = "{:<64}  {:<32}  {:<4}  {:<20}  {:<20}  " + "{:<20} " * with_clients + "{:<20} {:<20}"
    client_title = ("#Client IP",) if with_clients else ()
    column_titles = ("#Topic", "#Broker Name", "#QID", "#Broker Offset", "#Consumer Offset")
    text_lines = [row_format.format(*column_titles, *client_title, "#Diff", "#Inflight") + "#LastTime"]
    total_diff = total_inflight = 0
    queue_rows = [row for row in rows.rows if row.get("queueId") is not None]
    for row in sorted(queue_rows, key=itemgetter("topic", "brokerName", "queueId")):
        broker_offset, consumer_offset = _int_cell(row, "brokerOffset"), _int_cell(row, "consumerOffset")
        total_diff += broker_offset - consumer_offset
        total_inflight += _int_cell(row, "inflight")
        client_cells = (str(row["clientId"] or "N/A").split("@")[0],) if with_clients else ()
        queue_cells = (str(row["topic"])[:64], str(row["brokerName"])[:32], _int_cell(row, "queueId"))
        last_time = format_local_time(row["lastTime"], "%Y-%m-%d %H:%M:%S") or "N/A"
        text_lines.append(
            row_format.format(
                *queue_cells,
                broker_offset,
                consumer_offset,
                *client_cells,
                broker_offset - consumer_offset,
                _int_cell(row, "inflight"),
            )
            + f" {last_time}"
        )
    tps_text = format_fixed(rows.totals.get("consumeTps"), 2)
    total_lines = (
        f"Consume TPS: {tps_text}",
        f"Consume Diff Total: {total_diff}",
        f"Consume Inflight Total: {total_inflight}",
    )
    return join_lines([*text_lines, "", *total_lines])


def _format_groups(rows: ResultRows) -> str:
    row_format = "{:<64}  {:<6}  {:<24} {:<5}  {:<14}  {:<7}  {}"
    text_lines = [row_format.format("#Group", "#Count", "#Version", "#Type", "#Model", "#TPS", "#Diff Total")]
    for row in rows.rows:
        client_count, consume_type = _int_cell(row, "count"), row["consumeType"]
        type_text = ("PULL" if consume_type == "CONSUME_ACTIVELY" else "PUSH") if client_count else ""
        model_text = (
            java_text(row["messageModel"]) if client_count and consume_type == "CONSUME_PASSIVELY" else ""
        )
        version_text = str(row["version"]).split(",")[0] if client_count else "OFFLINE"
        number_cells = (_int_cell(row, "tps"), _int_cell(row, "lag"))
        text_lines.append(
            row_format.format(
                str(row["group"])[:64], client_count, version_text, type_text, model_text, *number_cells
            )
        )
    return join_lines(text_lines)


def _format_broker_status(rows: ResultRows, arguments: CommandArguments) -> str:
    is_whole_cluster = arguments["broker"] is None
    return join_lines(
        [
            (f"{row['brokerAddr']:<24} " if is_whole_cluster else "")
            + f"{row['key']:<32}: {java_text(row['value'])}"
            for row in rows.rows
        ]
    )


def _format_stats_all(rows: ResultRows, arguments: CommandArguments) -> str:
    row_format = "{:<64}  {:<64} {:>12} {:>11} {:>11} {:>14} {:>14}"
    column_titles = ("#Accumulation", "#InTPS", "#OutTPS", "#InMsg24Hour", "#OutMsg24Hour")
    text_lines = [row_format.format("#Topic", "#Consumer Group", *column_titles)]
    for row in rows.rows:
        topic_name, group_name = str(row["topic"])[:64], str(row["group"] or "")[:64]
        messages_in, in_rate = _int_cell(row, "inMsg24Hour"), format_fixed(row["inTps"], 2)
        if not group_name:
            text_lines.append(row_format.format(topic_name, "", 0, in_rate, "", messages_in, "NO_CONSUMER"))
            continue
        number_cells = (format_fixed(row["outTps"], 2), messages_in, _int_cell(row, "outMsg24Hour"))
        text_lines.append(
            row_format.format(topic_name, group_name, _int_cell(row, "lag"), in_rate, *number_cells)
        )
    return join_lines(text_lines)


def _format_namesrv_config(rows: ResultRows, arguments: CommandArguments) -> str:
    text_lines: list[str] = []
    last_addr = None
    for row in rows.rows:
        if row["namesrvAddr"] != last_addr:
            last_addr = row["namesrvAddr"]
            text_lines.append(f"============{last_addr}============")
        text_lines.append(f"{row['key']:<50}=  {java_text(row['value'])}")
    return join_lines(text_lines)


OUTPUT_FORMS: dict[str, Callable[[Any, CommandArguments], str]] = {
    "clusterList": _format_cluster_list,
    "topicList": _format_topic_list,
    "topicRoute": _format_topic_route,
    "topicStatus": _format_topic_status,
    "consumerProgress": _format_consumer_progress,
    "brokerStatus": _format_broker_status,
    "statsAll": _format_stats_all,
    "getNamesrvConfig": _format_namesrv_config,
    "topicClusterList": client_forms.format_topic_cluster_list,
    "consumerConnection": client_forms.format_consumer_connection,
    "producerConnection": client_forms.format_producer_connection,
    "getBrokerConfig": client_forms.format_broker_config,
    "wipeWritePerm": change_forms.format_wipe_write_perm,
    "addWritePerm": change_forms.format_add_write_perm,
    "updateKvConfig": change_forms.format_update_kv_config,
    "deleteKvConfig": change_forms.format_delete_kv_config,
    "updateBrokerConfig": change_forms.format_update_broker_config,
    "updateTopic": change_forms.format_update_topic,
    "updateTopicPerm": change_forms.format_update_topic_perm,
    "deleteTopic": change_forms.format_delete_topic,
}
"""The function that formats the rows of each command, by the command's name."""
