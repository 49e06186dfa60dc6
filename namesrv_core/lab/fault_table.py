"""The table of faults: for each kind a coroutine that applies it to a lab cluster and records the truth."""

from collections.abc import Awaitable, Callable, Mapping

from namesrv_core.lab.broker_faults import freeze_brokers, kill_brokers, skew_clocks, stop_brokers
from namesrv_core.lab.fault_context import FaultContext
from namesrv_core.lab.identity_faults import join_other_cluster, start_impostors
from namesrv_core.lab.misconfiguration_faults import (
    change_broker_setting,
    change_namesrv_list,
    forget_topic,
    write_order_conf,
)
from namesrv_core.lab.name_server_faults import kill_namesrv, pause_namesrv, restart_namesrv
from namesrv_core.lab.network_faults import partition_network, slow_network
from namesrv_core.lab.registration_faults import create_topic, delete_topic, register_brokers
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.write_permission_faults import restore_write_permission, wipe_write_permission

FaultAction = Callable[[FaultContext, Fault], Awaitable[None]]

ACTIONS_BY_FAULT: Mapping[str, FaultAction] = {
    "stop": stop_brokers,
    "kill": kill_brokers,
    "restart": stop_brokers,
    "storm": kill_brokers,
    "freeze": freeze_brokers,
    "partition": partition_network,
    "slow": slow_network,
    "impostor": start_impostors,
    "join": join_other_cluster,
    "createTopic": create_topic,
    "deleteTopic": delete_topic,
    "register": register_brokers,
    "wipe": wipe_write_permission,
    "unwipe": restore_write_permission,
    "killNamesrv": kill_namesrv,
    "restartNamesrv": restart_namesrv,
    "pauseNamesrv": pause_namesrv,
    "skew": skew_clocks,
    "relist": change_namesrv_list,
    "configure": change_broker_setting,
    "forgetTopic": forget_topic,
    "orderConf": write_order_conf,
}
