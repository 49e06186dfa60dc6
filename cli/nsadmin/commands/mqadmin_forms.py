"""Formats rows as mqadmin's text, byte for byte, for commands whose text scripts parse. Pure.

Widths, truncation and headings are those of 5.5.0 (upstream's ClusterListSubCommand and so on), with its
quirks: unknown values become 0 or nothing, and times are in the local time zone. There are two differences:
names and brokers are sorted, where mqadmin uses the order of a Java map, and consumerProgress also lists
groups that mqadmin does not find.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from operator import itemgetter
from typing import Any

from namesrv_core.protocol import fastjson
from nsadmin.output import Row, Rows

Arguments = Mapping[str, Any]


def _fixed(number: Any, places: int) -> str:
    """Format a number like Java's %.Nf, which rounds the decimal digits half up."""
    step = Decimal(1).scaleb(-places)
    return str(Decimal(repr(float(number or 0))).quantize(step, ROUND_HALF_UP))


def _local(text: Any, form: str) -> str:
    return "" if text is None else datetime.fromisoformat(str(text)).astimezone().strftime(form)


def _text(value: Any) -> str:
    """Format a value as Java prints it."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cluster_list(rows: Rows, arguments: Arguments) -> str:
    if arguments["more"]:
        head = "{:<16}  {:<32} {:>14} {:>14} {:>14} {:>14}"
        names = ("inTotalYest", "outTotalYest", "inTotalToday", "outTotalToday")
        lines = [
            head.format("#Cluster Name", "#Broker Name", *(f"#{name[0].upper()}{name[1:]}" for name in names))
        ]
        for row in rows.rows:
            totals = (_text(row.get(name) or 0) for name in names)
            lines.append(head.format(_text(row["clusterName"]), _text(row["brokerName"]), *totals))
        return _lines(lines)
    head = "{:<22}  {:<22}  {:<4}  {:<22} {:<16}  {:>16}  {:>30}  {:<22}  {:<11}  {:<12}  {:<8}  {:<10}"
    form = "{:<22}  {:<22}  {:<4}  {:<22} {:<16}  {:>16}  {:>30}  {:<22}  {:>11}  {:<12}  {:<8}  {:>10}"
    titles = (
        "#Cluster Name", "#Broker Name", "#BID", "#Addr", "#Version", "#InTPS(LOAD)", "#OutTPS(LOAD)",
        "#Timer(Progress)", "#PCWait(ms)", "#Hour", "#SPACE", "#ACTIVATED",
    )  # fmt: skip
    return _lines([head.format(*titles), *(form.format(*_load(row)) for row in rows.rows)])


def _load(row: Row) -> tuple[str, ...]:
    # In its first seconds a broker reports no rates: the columns exist, and are null.
    told = "inTps" in row
    queues = {name: _queue(row, name, told) for name in ("send", "pull", "ack")}
    rates = (_fixed(row.get(name), 1) for name in ("timerEnqueueTps", "timerDequeueTps"))
    congested = _fixed(float(_int(row, "timerCongestNum")) / 10000, 1)
    timers = (
        f"{_int(row, 'timerReadBehind')}-{_int(row, 'timerOffsetBehind')}({congested}w, {', '.join(rates)})"
    )
    return (
        *(_text(row[name]) for name in ("clusterName", "brokerName", "brokerId", "brokerAddr")),
        _text(row.get("version") or ("null" if told else "")),
        f"{_fixed(row.get('inTps'), 2):>9}({queues['send']})",
        f"{_fixed(row.get('outTps'), 2):>9}({queues['pull']}|{queues['ack']})",
        timers,
        _text(row.get("pageCacheLockTimeMills")) if told else "",
        _fixed(row.get("hour"), 2),
        _fixed(row.get("commitLogDiskRatio"), 4),
        _text(bool(row.get("brokerActive"))),
    )


def _queue(row: Row, name: str, told: bool) -> str:
    pair = (row.get(f"{name}ThreadPoolQueue{part}") for part in ("Size", "HeadWaitTimeMills"))
    unknown = ("N" if name == "ack" else "null") if told else ""
    return "{},{}ms".format(*(unknown if value is None else _text(value) for value in pair))


def _int(row: Row, name: str) -> int:
    value: Any = row.get(name)
    return int(value or 0)


def _topic_list(rows: Rows, arguments: Arguments) -> str:
    if not arguments["with_groups"]:
        return _lines([str(row["topic"]) for row in rows.rows])
    lines = [f"{'#Cluster Name':<20}  {'#Topic':<48}  {'#Consumer Group':<48}"]
    for row in rows.rows:
        if str(row["topic"]).startswith(("%RETRY%", "%DLQ%")):
            continue
        groups: Any = row["consumerGroups"] or [""]
        cluster, topic = str(row["clusterName"] or "")[:20], str(row["topic"])[:64]
        lines += [f"{cluster:<20}  {topic:<64}  {group[:64]:<64}" for group in groups]
    return _lines(lines)


_ROUTE = "{:<45} {:<32} {:<50} {:<10} {:<11} {:<5}"


def _topic_route(rows: Rows | str, arguments: Arguments) -> str:
    if isinstance(rows, str):
        return _java_json(_without_nulls(fastjson.loads(rows.encode()))) + "\n"
    titles = ("#ClusterName", "#BrokerName", "#BrokerAddrs", "#ReadQueue", "#WriteQueue", "#Perm")
    lines, totals = [_ROUTE.format(*titles)], [0, 0]
    for row in rows.rows:
        addrs: Any = row["brokerAddrs"]
        queues = [_int(row, name) for name in ("readQueueNums", "writeQueueNums")]
        totals = [total + number for total, number in zip(totals, queues, strict=True)]
        where = "{" + ", ".join(f"{number}={addr}" for number, addr in addrs.items()) + "}"
        names = (_text(row["clusterName"]), _text(row["brokerName"]), where)
        lines.append(_ROUTE.format(*names, *queues, _perm(row["perm"])))
    return _lines([*lines, "-" * 158, _ROUTE.format("Total:", len(rows.rows), "", *totals, "")])


def _perm(perm: Any) -> int:
    return int(perm or 0)


def _without_nulls(value: Any) -> Any:
    """Drop null members and sort objects by key, as upstream's JSON writer does."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_nulls(value[key]) for key in sorted(value, key=str) if value[key] is not None}
    return value


def _java_json(value: Any, depth: int = 0) -> str:
    """Format JSON as fastjson does: indented with tabs, and numeric keys without quotes."""
    inner, outer = "\t" * (depth + 1), "\t" * depth
    if isinstance(value, dict) and value:
        items = (f"{inner}{_key(key)}:{_java_json(item, depth + 1)}" for key, item in value.items())
        return "{\n" + ",\n".join(items) + f"\n{outer}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + _java_json(item, depth + 1) for item in value) + f"\n{outer}]"
    return fastjson.dumps(value).decode()


def _key(key: Any) -> str:
    return str(key) if isinstance(key, int) or str(key).isdigit() else fastjson.dumps(str(key)).decode()


def _topic_status(rows: Rows, arguments: Arguments) -> str:
    form = "{:<32}  {:<4}  {:<20}  {:<20}    {}"
    lines = [form.format("#Broker Name", "#QID", "#Min Offset", "#Max Offset", "#Last Updated")]
    for row in rows.rows:
        if row.get("queueId") is None:
            continue
        time = _local(row["lastUpdated"], "%Y-%m-%d %H:%M:%S,%f")[:23]
        numbers = (_text(row[name]) for name in ("queueId", "minOffset", "maxOffset"))
        lines.append(form.format(str(row["brokerName"])[:32], *numbers, time))
    # mqadmin always prints 0.0, because it never adds up the rates.
    return _lines([*lines, "", "Topic Put TPS: 0.0"])


def _consumer_progress(rows: Rows, arguments: Arguments) -> str:
    if arguments["group"] is None:
        return _groups(rows)
    with_clients = str(arguments["show_client"]).lower() == "true"
    form = "{:<64}  {:<32}  {:<4}  {:<20}  {:<20}  " + "{:<20} " * with_clients + "{:<20} {:<20}"
    client = ("#Client IP",) if with_clients else ()
    titles = ("#Topic", "#Broker Name", "#QID", "#Broker Offset", "#Consumer Offset")
    lines = [form.format(*titles, *client, "#Diff", "#Inflight") + "#LastTime"]
    diffs = inflights = 0
    queues = [row for row in rows.rows if row.get("queueId") is not None]
    for row in sorted(queues, key=itemgetter("topic", "brokerName", "queueId")):
        end, read = _int(row, "brokerOffset"), _int(row, "consumerOffset")
        diffs, inflights = diffs + end - read, inflights + _int(row, "inflight")
        who = (str(row["clientId"] or "N/A").split("@")[0],) if with_clients else ()
        place = (str(row["topic"])[:64], str(row["brokerName"])[:32], _int(row, "queueId"))
        time = _local(row["lastTime"], "%Y-%m-%d %H:%M:%S") or "N/A"
        lines.append(form.format(*place, end, read, *who, end - read, _int(row, "inflight")) + f" {time}")
    tps = _fixed(rows.totals.get("consumeTps"), 2)
    sums = (f"Consume TPS: {tps}", f"Consume Diff Total: {diffs}", f"Consume Inflight Total: {inflights}")
    return _lines([*lines, "", *sums])


def _groups(rows: Rows) -> str:
    form = "{:<64}  {:<6}  {:<24} {:<5}  {:<14}  {:<7}  {}"
    lines = [form.format("#Group", "#Count", "#Version", "#Type", "#Model", "#TPS", "#Diff Total")]
    for row in rows.rows:
        count, kind = _int(row, "count"), row["consumeType"]
        type_ = ("PULL" if kind == "CONSUME_ACTIVELY" else "PUSH") if count else ""
        model = _text(row["messageModel"]) if count and kind == "CONSUME_PASSIVELY" else ""
        version = str(row["version"]).split(",")[0] if count else "OFFLINE"
        numbers = (_int(row, "tps"), _int(row, "diffTotal"))
        lines.append(form.format(str(row["group"])[:64], count, version, type_, model, *numbers))
    return _lines(lines)


def _broker_status(rows: Rows, arguments: Arguments) -> str:
    whole = arguments["broker"] is None
    return _lines(
        [
            (f"{row['brokerAddr']:<24} " if whole else "") + f"{row['key']:<32}: {_text(row['value'])}"
            for row in rows.rows
        ]
    )


def _stats_all(rows: Rows, arguments: Arguments) -> str:
    form = "{:<64}  {:<64} {:>12} {:>11} {:>11} {:>14} {:>14}"
    titles = ("#Accumulation", "#InTPS", "#OutTPS", "#InMsg24Hour", "#OutMsg24Hour")
    lines = [form.format("#Topic", "#Consumer Group", *titles)]
    for row in rows.rows:
        topic, group = str(row["topic"])[:64], str(row["consumerGroup"] or "")[:64]
        came, rate = _int(row, "inMsg24Hour"), _fixed(row["inTps"], 2)
        if not group:
            lines.append(form.format(topic, "", 0, rate, "", came, "NO_CONSUMER"))
            continue
        numbers = (_fixed(row["outTps"], 2), came, _int(row, "outMsg24Hour"))
        lines.append(form.format(topic, group, _int(row, "accumulation"), rate, *numbers))
    return _lines(lines)


def _namesrv_config(rows: Rows, arguments: Arguments) -> str:
    lines: list[str] = []
    last = None
    for row in rows.rows:
        if row["namesrvAddr"] != last:
            last = row["namesrvAddr"]
            lines.append(f"============{last}============")
        lines.append(f"{row['key']:<50}=  {_text(row['value'])}")
    return _lines(lines)


def _wipe_write_perm(rows: Rows, arguments: Arguments) -> str:
    lines = []
    for row in rows.rows:
        what = f"wipe write perm of broker[{row['brokerName']}] in name server[{row['namesrvAddr']}]"
        done = row.get("error") is None
        lines.append(f"{what} OK, {_int(row, 'topicCount')}" if done else f"{what} Failed")
    return _lines(lines)


def _update_kv_config(rows: Rows, arguments: Arguments) -> str:
    done = all(row.get("error") is None for row in rows.rows)
    return "create or update kv config to namespace success.\n" if done else ""


FORMS: dict[str, Callable[[Any, Arguments], str]] = {
    "clusterList": _cluster_list,
    "topicList": _topic_list,
    "topicRoute": _topic_route,
    "topicStatus": _topic_status,
    "consumerProgress": _consumer_progress,
    "brokerStatus": _broker_status,
    "statsAll": _stats_all,
    "getNamesrvConfig": _namesrv_config,
    "wipeWritePerm": _wipe_write_perm,
    "updateKvConfig": _update_kv_config,
}
"""The function that formats the rows of each command, by the command's name."""
