"""The access guard: the only place that decides whether a peer may send a request.

A request code that is in none of these tables, even an unknown one, needs the strongest role.
"""

from collections.abc import Mapping

from namesrv_core.errors import NoPermission, RequestError
from namesrv_core.protocol import bodies, headers, registration
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, ExtFields
from namesrv_core.protocol.signing import ACCESS_KEY, is_signed
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import ANYWHERE, Fence, Grant, Peer, Policy, Role, is_inside
from namesrv_core.state.refusals import Reason, Refusal
from namesrv_core.state.tables import RouteTables

ROLES: Mapping[int, Role] = {
    RequestCode.GET_ROUTEINFO_BY_TOPIC: Role.READ,
    RequestCode.GET_BROKER_CLUSTER_INFO: Role.READ,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: Role.READ,
    RequestCode.GET_TOPICS_BY_CLUSTER: Role.READ,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: Role.READ,
    RequestCode.GET_UNIT_TOPIC_LIST: Role.READ,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: Role.READ,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: Role.READ,
    RequestCode.REGISTER_BROKER: Role.BROKER,
    RequestCode.UNREGISTER_BROKER: Role.BROKER,
    RequestCode.QUERY_DATA_VERSION: Role.BROKER,
    RequestCode.BROKER_HEARTBEAT: Role.BROKER,
    RequestCode.GET_BROKER_MEMBER_GROUP: Role.BROKER,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: Role.BROKER,
}
"""The role that a request needs. Requests of the role broker act on one broker."""

OBSERVED = frozenset(
    {
        RequestCode.GET_KV_CONFIG,
        RequestCode.GET_KVLIST_BY_NAMESPACE,
        RequestCode.GET_NAMESRV_CONFIG,
        RequestCode.GET_BROKER_MEMBER_GROUP,
    }
)
"""What an observer may send beyond the role read: requests that change nothing and keep no broker alive."""

CHANGES = frozenset(
    {
        RequestCode.PUT_KV_CONFIG,
        RequestCode.DELETE_KV_CONFIG,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
        RequestCode.DELETE_TOPIC_IN_NAMESRV,
        RequestCode.REGISTER_TOPIC_IN_NAMESRV,
        RequestCode.UPDATE_NAMESRV_CONFIG,
    }
)
"""The changes that operators make, which a read-only server refuses. Registrations are not among them."""

_READ_ONLY = "this name server is read-only"
_NO_REMOTE_CONFIG = "this name server takes no settings by request"
# Check signatures of unknown keys as well, so that the time of an answer does not reveal which keys exist.
_NOBODYS_SECRET = "0" * 32


def check(state: NameServerState, policy: Policy, request: Command, peer: Peer) -> None:
    """Raise NoPermission, and count the refusal, if the policy does not allow the request."""
    refusal = judge(policy, state, request, peer)
    if refusal is not None:
        state.refusals.add(refusal, request.code, peer.host)
        raise NoPermission(refusal.remark)


def judge(policy: Policy, state: NameServerState, request: Command, peer: Peer) -> Refusal | None:
    """The refusal of a request, or None if it is allowed. The key is checked only if the request needs it.

    The remarks are those of 5.x brokers, because clients show them to people.
    """
    if policy.read_only and request.code in CHANGES:
        return Refusal(Reason.READ_ONLY, _READ_ONLY, _named(request))
    if policy.no_remote_config and request.code == RequestCode.UPDATE_NAMESRV_CONFIG:
        return Refusal(Reason.REMOTE_CONFIG, _NO_REMOTE_CONFIG, _named(request))
    fenced = None
    for grant in policy.without_key(peer):
        if not may(grant.role, request.code):
            continue
        fenced = _outside(grant, state, request)
        if fenced is None:
            return None
    key = _named(request)
    if key is None:
        if fenced is not None:
            return Refusal(Reason.FENCE, f"{peer.host} has no permission to act for {fenced}")
        return Refusal(Reason.UNSIGNED, f"username cannot be null. {_wanted(request.code)}")
    return _judge_signed(policy, state, request, peer, key)


def may(role: Role, code: int) -> bool:
    """Whether the role may send the request."""
    return role >= ROLES.get(code, Role.ADMIN) or (role == Role.OBSERVER and code in OBSERVED)


def _judge_signed(
    policy: Policy, state: NameServerState, request: Command, peer: Peer, key: str
) -> Refusal | None:
    account = policy.accounts.get(key)
    good = is_signed(request, _NOBODYS_SECRET if account is None else account.secret_key)
    if account is None or not good:
        # Do not reveal to a guessing peer which keys exist. The log has the difference.
        reason = Reason.UNKNOWN_KEY if account is None else Reason.BAD_SIGNATURE
        return Refusal(reason, "check signature failed.", key)
    if not account.grant.covers(peer):
        return Refusal(Reason.NETWORK, f"User:{key} has no permission to ask from {peer.host}", key)
    if not may(account.grant.role, request.code):
        remark = f"User:{key} has no permission. {_wanted(request.code)}"
        return Refusal(Reason.ROLE, remark, key)
    fenced = _outside(account.grant, state, request)
    if fenced is None:
        return None
    return Refusal(Reason.FENCE, f"User:{key} has no permission to act for {fenced}", key)


def _named(request: Command) -> str | None:
    """The access key that a request claims, or None."""
    return (request.ext or {}).get(ACCESS_KEY) or None


def _wanted(code: int) -> str:
    needed = next(role for role in Role if may(role, code))
    try:
        name = RequestCode(code).name
    except ValueError:
        name = f"request {code}"
    return f"{name} needs the role {needed.name.lower()}"


def _outside(grant: Grant, state: NameServerState, request: Command) -> str | None:
    """The cluster, broker or address outside the grant's fence, or None."""
    fence, ext = grant.fence, request.ext or {}
    if fence == ANYWHERE or ROLES.get(request.code) != Role.BROKER:
        return None
    if request.code == RequestCode.GET_BROKER_MEMBER_GROUP:
        return None
    if request.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
        return _topic_outside(fence, state.tables, request.body)
    found = _cluster_outside(fence, state.tables, ext) or _address_outside(fence, ext)
    if found is None and request.code == RequestCode.REGISTER_BROKER:
        found = _mapping_outside(state, request)
    return found


def _mapping_outside(state: NameServerState, request: Command) -> str | None:
    """Find a foreign broker in a mapping, which applies to the broker that it names, not to the sender."""
    header, body = headers.read(headers.RegisterBroker, request.ext), request.body
    # Most bodies have no mapping: do not decode those twice. An escape sequence may hide the member's name.
    if not header.compressed and body[:1] == b"{" and b"bname" not in body and b"\\u" not in body:
        return None
    try:
        registered = registration.decode(
            body, version=request.version, compressed=header.compressed, now=0, within=state.limits
        )
    except (ValueError, RequestError):
        # The handler will report the error, and changes nothing.
        return None
    named = (info.bname for info in registered.mappings.values() if info is not None)
    strange = next((name for name in named if name is not None and name != header.broker_name), None)
    return None if strange is None else f"broker {strange} in a queue mapping"


def _cluster_outside(fence: Fence, tables: RouteTables, ext: ExtFields) -> str | None:
    """Find a foreign cluster: the request's own, or that of the named group, which may be another one."""
    if fence.clusters is None:
        return None
    cluster, name = ext.get("clusterName"), ext.get("brokerName")
    if cluster not in fence.clusters:
        return f"cluster {cluster}"
    group = tables.groups.get(name) if name is not None else None
    if group is not None and group.cluster not in fence.clusters:
        return f"broker {name} of cluster {group.cluster}"
    return None


def _address_outside(fence: Fence, ext: ExtFields) -> str | None:
    if fence.networks is None:
        return None
    for address in (ext.get("brokerAddr"), ext.get("haServerAddr") or ext.get("brokerAddr")):
        if not is_inside((address or "").rpartition(":")[0].strip("[]"), fence.networks):
            return f"address {address}"
    return None


def _topic_outside(fence: Fence, tables: RouteTables, body: bytes) -> str | None:
    """Find a foreign broker among those whose queues the request registers."""
    try:
        queues = bodies.queue_datas(body) if body else []
    except ValueError:
        # The handler will report the error, and changes nothing.
        return None
    for queue in queues:
        group = tables.groups.get(queue.broker_name)
        if group is None:
            continue
        if fence.clusters is not None and group.cluster not in fence.clusters:
            return f"broker {queue.broker_name} of cluster {group.cluster}"
        for address in group.addrs.values():
            found = _address_outside(fence, {"brokerAddr": address})
            if found is not None:
                return f"broker {queue.broker_name} at {found}"
    return None
