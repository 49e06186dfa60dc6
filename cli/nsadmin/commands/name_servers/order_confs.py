"""Owns updateOrderConf, which shows, writes or deletes a topic's order configuration on name servers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from typer import Argument

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.advised_command import quote_command
from nsadmin.client.name_servers.order_confs import parse_order_conf
from nsadmin.client.results import is_not_found
from nsadmin.client.topic_routes import QueueRoute
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR
from nsadmin.commands.columns.changes import (
    CHANGE_COLUMNS,
    CHANGES,
    ServerChange,
    describe_change,
    forgive_not_found,
    name_server_change_columns,
    name_server_change_rows,
    plan_write,
    undo_on_brokers,
    undo_on_name_servers,
)
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, result_column
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.phrases import failed_on
from nsadmin.console.session import Session
from nsadmin.operations.order_conf_check import find_topic_problems

ORDER_CONF_COLUMNS: Columns[ServerResult[str]] = (
    NAMESRV_ADDR,
    TOPIC,
    Column("orderConf", "queues by broker, as in broker-a:4;broker-b:4", lambda r: r.result),
    result_column("found, done, dry-run, failed or not found", "found"),
    ERROR,
)
ORDER_CONF_CHANGE_COLUMNS = name_server_change_columns(TOPIC)
MASTER_ADDR: Column[ServerChange] = BROKER_ADDR.of(lambda c: c.server if c.role == "master" else None)
ORDER_CONF_DELETION_COLUMNS: Columns[ServerChange] = (
    NAMESRV_ADDR.of(lambda c: c.server if c.role == "namesrv" else None),
    MASTER_ADDR,
    TOPIC,
    # Also of a flag that could not be removed.
    CHANGES.of(lambda c: describe_change(c.before, c.after)),
    *CHANGE_COLUMNS[1:],
)


def _undo_conf_change(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    confs = [row for row in rows if row.get("namesrvAddr")]
    topic, masters = rows[0]["topic"], [row for row in rows if row.get("brokerAddr")]
    if all(row.get("before") is None for row in confs):
        return [["updateOrderConf", topic, "delete"]]
    put = undo_on_name_servers(confs, "updateOrderConf", topic, "put")
    # This comes first: -o true writes an order configuration of its own.
    order = undo_on_brokers(masters, "brokerAddr", lambda row: ["updateTopic", topic, "-o", "true"])
    return [*order, *put] if put else []


@command(
    columns=(*ORDER_CONF_COLUMNS, *ORDER_CONF_CHANGE_COLUMNS, *ORDER_CONF_DELETION_COLUMNS),
    undo_lines=_undo_conf_change,
)
def update_order_conf(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    method_name: Annotated[
        str, Argument(metavar="get|put|delete", help="get, put or delete."), Flags("-m", "--method")
    ],
    order_conf: Annotated[
        str | None,
        Argument(metavar="CONF", help="For put: queues by broker, as broker-a:4;broker-b:8."),
        Flags("-v", "--orderConf"),
    ],
) -> ResultRows:
    """Show, write or delete a topic's order configuration on every name server.

    It names the brokers with the topic's ordered messages, and the number of queues on each. put replaces all
    of it, and says what does not fit the brokers. Clients receive it with the route, but only from name
    servers with orderMessageEnable=true. Off a terminal, delete needs --yes.

    A 5.x broker keeps a topic ordered without its order configuration. So delete also removes the order flag
    from the topic on every master, with a row for each.

    Examples:
        # Show it
        nsadmin updateOrderConf orders get
        # Write it, with 8 queues on each of two brokers
        nsadmin updateOrderConf orders put "broker-a-0:8;broker-a-1:8" --yes
        # Delete it
        nsadmin updateOrderConf orders delete --yes
    """
    conf_admin = session.admin.order_confs
    servers_text = ", ".join(session.admin.addresses.addrs)
    if method_name == "get":
        results = conf_admin.get_each(topic)
        errors = [r.error for r in results]
        is_missing = all(map(is_not_found, errors))
        notes = [_missing_conf(topic)] if is_missing else _list_unused_notes(session, errors)
        return ResultRows.from_records(ORDER_CONF_COLUMNS, results, errors, notes, common={TOPIC: topic})
    if method_name not in ("put", "delete"):
        raise UsageError(f'unknown method "{method_name}": use get, put or delete')
    session.require_writable(f"updateOrderConf {method_name}")
    done = "dry-run" if session.is_dry_run else "done"
    if method_name == "put":
        conf_text = _require_order_conf(topic, order_conf)
        has_problems = warn_of_conf_problems(session, topic, conf_text)
        session.confirm_change(f"Write the order configuration {conf_text} of {topic} on {servers_text}?")
        before = conf_admin.get_each(topic)
        results = (
            [plan_write(r, conf_text) for r in before]
            if session.is_dry_run
            else conf_admin.put_conf(topic, conf_text)
        )
        rows = name_server_change_rows(ORDER_CONF_CHANGE_COLUMNS, before, results, done, {TOPIC: topic})
        # The advice to send a configuration with problems to clients would make them worse.
        return rows._replace(notes=_list_unused_notes(session, rows.errors, is_advised=not has_problems))
    if all(is_not_found(r.error) for r in conf_admin.get_each(topic)):
        raise NotFound(_missing_conf(topic))
    session.require_yes("updateOrderConf delete", f"this would delete the order configuration of {topic}")
    session.confirm_change(f"Delete the order configuration of {topic} on {servers_text}?")
    return _delete_order_conf(session, topic, done)


def _missing_conf(topic: str) -> str:
    return f"{topic} has no order configuration"


def _delete_order_conf(session: Session, topic: str, done: str) -> ResultRows:
    conf_admin = session.admin.order_confs
    results = conf_admin.get_each(topic) if session.is_dry_run else conf_admin.delete_conf(topic)
    changes = [ServerChange(r.addr, r.result, None, r.error, done, "namesrv") for r in results]
    columns = replace_columns(ORDER_CONF_DELETION_COLUMNS, MASTER_ADDR.in_wide())
    errors = [r.error for r in results]
    notes = _list_unused_notes(session, errors)
    errors = forgive_not_found(errors)
    if not any(errors):
        flag_changes = _remove_order_flags(session, topic, done)
        if flag_changes:
            columns = ORDER_CONF_DELETION_COLUMNS
            changes += flag_changes
            errors += [change.error for change in flag_changes]
    elif None in errors:
        notes.append(
            f"{topic} stays ordered on brokers while a name server may have its order configuration: "
            "run the command again when all name servers answer"
        )
    return ResultRows.from_records(columns, changes, errors, notes, common={TOPIC: topic})


def _remove_order_flags(session: Session, topic: str, done: str) -> list[ServerChange]:
    """Take the flag `order` from the topic on the masters of its route."""
    configs, patch = session.admin.topic_configs, TopicPatch(order=False)
    try:
        queues = session.admin.topics.get_route(topic).queues
    except TopicNotExist:
        return []
    masters = [q.broker_addrs[MASTER_BROKER_ID] for q in queues if q.has_master]
    plans = [plan for plan in configs.plan_update(masters, topic, patch, create=False) if plan.is_change]
    warn_of_drains(session, (plan.broker_name for plan in plans))
    if not session.is_dry_run:
        plans = configs.apply_changes(plans, patch)
    return [
        ServerChange(plan.broker_addr, {"order": True}, {"order": False}, plan.error, done, "master")
        for plan in plans
    ]


def _require_order_conf(topic: str, order_conf: str | None) -> str:
    if order_conf is None:
        example = quote_command("updateOrderConf", topic, "put", "broker-a:4;broker-b:4")
        raise UsageError(f"missing argument CONF, for example {example}")
    try:
        parse_order_conf(order_conf)
    except ValueError as error:
        raise UsageError(f"invalid order configuration: {error}") from error
    return order_conf


def warn_of_conf_problems(session: Session, topic: str, conf_text: str) -> bool:
    """Write what orderConfCheck would say of the brokers, and whether it says anything.

    It says nothing if no name server knows the brokers now.
    """
    try:
        queues_by_broker = parse_order_conf(conf_text)
    except ValueError as error:
        session.write_remark(f"{topic}: clients cannot parse the order configuration: {error}")
        return True
    routes: Sequence[QueueRoute] = ()
    try:
        groups = session.admin.clusters.get_info().broker_groups
        routes = session.admin.topics.get_route(topic).queues
    except TopicNotExist:
        pass
    except RocketMQError:
        return False
    brokers = {g.broker_name: {str(i): addr for i, addr in g.broker_addrs.items()} for g in groups}
    topic_queues = {
        q.broker_name: {"perm": q.perm, "writeQueueNums": q.write_queue_nums or 0}
        for q in routes
        if q.perm is not None
    }
    silent_addrs = session.admin.order_confs.find_servers_without()
    is_sent = len(silent_addrs) < len(session.admin.addresses.addrs)
    problems = list(find_topic_problems(brokers, topic_queues, queues_by_broker, is_sent=is_sent))
    for _, text, _ in problems:
        session.write_remark(f"{topic}: {text}")
    return bool(problems)


def _list_unused_notes(
    session: Session, errors: Sequence[RocketMQError | None], *, is_advised: bool = True
) -> list[str]:
    notes = note_unsent_order_confs(session, is_advised=is_advised) if None in errors else []
    return [*notes, *failed_on(errors)] if notes else []


def note_unsent_order_confs(session: Session, *, is_advised: bool = True) -> list[str]:
    """A note about the name servers that do not send order configurations to clients; [] if all do.

    With `is_advised`, it has the command that lets them send.
    """
    addrs = ", ".join(session.admin.order_confs.find_servers_without())
    if not addrs:
        return []
    advice = (
        ". Without it, messages stay in order only while all brokers of the topic run: to send it, run "
        f"{quote_command('updateNamesrvConfig', 'orderMessageEnable', 'true')}"
    )
    fact = f"clients get no order configuration from {addrs}, because orderMessageEnable is false"
    return [f"{fact}{advice if is_advised else ''}"]
