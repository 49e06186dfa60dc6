"""The access guard: the only place that decides whether a peer may send a request.

A request code that is in none of these tables, even an unknown one, needs the strongest role.
"""

from collections.abc import Mapping

from namesrv_core.errors import NoPermission, RequestError
from namesrv_core.protocol import headers, json_bodies, registration_codec
from namesrv_core.protocol.acl_signature import ACCESS_KEY_FIELD, has_valid_signature
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from namesrv_core.state.access_policy import (
    NO_FENCE,
    AccessGrant,
    AccessPolicy,
    AccessRole,
    RegistrationFence,
    RequestPeer,
    is_in_networks,
)
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.refusals import RefusalReason, RequestRefusal
from namesrv_core.state.route_tables import RouteTables

ROLES_BY_CODE: Mapping[int, AccessRole] = {
    RequestCode.GET_ROUTEINFO_BY_TOPIC: AccessRole.READ,
    RequestCode.GET_BROKER_CLUSTER_INFO: AccessRole.READ,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: AccessRole.READ,
    RequestCode.GET_TOPICS_BY_CLUSTER: AccessRole.READ,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: AccessRole.READ,
    RequestCode.GET_UNIT_TOPIC_LIST: AccessRole.READ,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: AccessRole.READ,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: AccessRole.READ,
    RequestCode.REGISTER_BROKER: AccessRole.BROKER,
    RequestCode.UNREGISTER_BROKER: AccessRole.BROKER,
    RequestCode.QUERY_DATA_VERSION: AccessRole.BROKER,
    RequestCode.BROKER_HEARTBEAT: AccessRole.BROKER,
    RequestCode.GET_BROKER_MEMBER_GROUP: AccessRole.BROKER,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: AccessRole.BROKER,
}
"""The role that a request needs. Requests of the role broker act on one broker."""

OBSERVER_CODES = frozenset(
    {
        RequestCode.GET_KV_CONFIG,
        RequestCode.GET_KVLIST_BY_NAMESPACE,
        RequestCode.GET_NAMESRV_CONFIG,
        RequestCode.GET_BROKER_MEMBER_GROUP,
    }
)
"""What an observer may send beyond the role read: requests that change nothing and keep no broker alive."""

OPERATOR_CHANGE_CODES = frozenset(
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

_READ_ONLY_REMARK = "this name server is read-only"
_NO_REMOTE_CONFIG_REMARK = "this name server takes no settings by request"
# Check signatures of unknown keys as well, so that the time of an answer does not reveal which keys exist.
_DUMMY_SECRET = "0" * 32


def check_access(
    state: NameServerState, policy: AccessPolicy, request: RemotingCommand, peer: RequestPeer
) -> None:
    """Raise NoPermission, and count the refusal, if the policy does not allow the request."""
    refusal = judge_request(policy, state, request, peer)
    if refusal is not None:
        state.refusals.record_refusal(refusal, request.code, peer.host)
        raise NoPermission(refusal.remark)


def judge_request(
    policy: AccessPolicy, state: NameServerState, request: RemotingCommand, peer: RequestPeer
) -> RequestRefusal | None:
    """The refusal of a request, or None if it is allowed. The key is checked only if the request needs it.

    The remarks are those of 5.x brokers, because clients show them to people.
    """
    if policy.read_only and request.code in OPERATOR_CHANGE_CODES:
        return RequestRefusal(RefusalReason.READ_ONLY, _READ_ONLY_REMARK, _claimed_access_key(request))
    if policy.no_remote_config and request.code == RequestCode.UPDATE_NAMESRV_CONFIG:
        return RequestRefusal(
            RefusalReason.REMOTE_CONFIG, _NO_REMOTE_CONFIG_REMARK, _claimed_access_key(request)
        )
    fence_violation = None
    for access_grant in policy.grants_without_key(peer):
        if not is_role_sufficient(access_grant.role, request.code):
            continue
        fence_violation = _find_fence_violation(access_grant, state, request)
        if fence_violation is None:
            return None
    access_key = _claimed_access_key(request)
    if access_key is None:
        if fence_violation is not None:
            return RequestRefusal(
                RefusalReason.FENCE, f"{peer.host} has no permission to act for {fence_violation}"
            )
        return RequestRefusal(
            RefusalReason.UNSIGNED, f"username cannot be null. {_describe_needed_role(request.code)}"
        )
    return _judge_signed(policy, state, request, peer, access_key)


def is_role_sufficient(access_role: AccessRole, request_code: int) -> bool:
    """Whether the role may send the request."""
    return access_role >= ROLES_BY_CODE.get(request_code, AccessRole.ADMIN) or (
        access_role == AccessRole.OBSERVER and request_code in OBSERVER_CODES
    )


def _judge_signed(
    policy: AccessPolicy, state: NameServerState, request: RemotingCommand, peer: RequestPeer, access_key: str
) -> RequestRefusal | None:
    signer_account = policy.accounts_by_key.get(access_key)
    is_signature_valid = has_valid_signature(
        request, _DUMMY_SECRET if signer_account is None else signer_account.secret_key
    )
    if signer_account is None or not is_signature_valid:
        # Do not reveal to a guessing peer which keys exist. The log has the difference.
        refusal_reason = RefusalReason.UNKNOWN_KEY if signer_account is None else RefusalReason.BAD_SIGNATURE
        return RequestRefusal(refusal_reason, "check signature failed.", access_key)
    if not signer_account.grant.covers_peer(peer):
        return RequestRefusal(
            RefusalReason.NETWORK, f"User:{access_key} has no permission to ask from {peer.host}", access_key
        )
    if not is_role_sufficient(signer_account.grant.role, request.code):
        remark = f"User:{access_key} has no permission. {_describe_needed_role(request.code)}"
        return RequestRefusal(RefusalReason.ROLE, remark, access_key)
    fence_violation = _find_fence_violation(signer_account.grant, state, request)
    if fence_violation is None:
        return None
    return RequestRefusal(
        RefusalReason.FENCE, f"User:{access_key} has no permission to act for {fence_violation}", access_key
    )


def _claimed_access_key(request: RemotingCommand) -> str | None:
    """The access key that a request claims, or None."""
    return (request.ext or {}).get(ACCESS_KEY_FIELD) or None


def _describe_needed_role(request_code: int) -> str:
    needed_role = next(
        access_role for access_role in AccessRole if is_role_sufficient(access_role, request_code)
    )
    try:
        request_name = RequestCode(request_code).name
    except ValueError:
        request_name = f"request {request_code}"
    return f"{request_name} needs the role {needed_role.name.lower()}"


def _find_fence_violation(
    access_grant: AccessGrant, state: NameServerState, request: RemotingCommand
) -> str | None:
    """The cluster, broker or address outside the grant's fence, or None."""
    registration_fence, ext_fields = access_grant.fence, request.ext or {}
    if registration_fence == NO_FENCE or ROLES_BY_CODE.get(request.code) != AccessRole.BROKER:
        return None
    if request.code == RequestCode.GET_BROKER_MEMBER_GROUP:
        return None
    if request.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
        return _find_foreign_topic_queue(registration_fence, state.tables, request.body)
    fence_violation = _find_foreign_cluster(
        registration_fence, state.tables, ext_fields
    ) or _find_foreign_address(registration_fence, ext_fields)
    if fence_violation is None and request.code == RequestCode.REGISTER_BROKER:
        fence_violation = _find_foreign_mapping(state, request)
    return fence_violation


def _find_foreign_mapping(state: NameServerState, request: RemotingCommand) -> str | None:
    """Find a foreign broker in a mapping, which applies to the broker that it names, not to the sender."""
    request_header, request_body = headers.read_header(headers.RegisterBroker, request.ext), request.body
    # Most bodies have no mapping: do not decode those twice. An escape sequence may hide the member's name.
    if (
        not request_header.compressed
        and request_body[:1] == b"{"
        and b"bname" not in request_body
        and b"\\u" not in request_body
    ):
        return None
    try:
        broker_registration = registration_codec.decode_registration(
            request_body,
            version=request.version,
            compressed=request_header.compressed,
            now=0,
            within=state.decode_limits,
        )
    except (ValueError, RequestError):
        # The handler will report the error, and changes nothing.
        return None
    mapped_names = (
        mapping_info.bname
        for mapping_info in broker_registration.queue_mappings.values()
        if mapping_info is not None
    )
    foreign_name = next(
        (
            broker_name
            for broker_name in mapped_names
            if broker_name is not None and broker_name != request_header.broker_name
        ),
        None,
    )
    return None if foreign_name is None else f"broker {foreign_name} in a queue mapping"


def _find_foreign_cluster(
    registration_fence: RegistrationFence, tables: RouteTables, ext_fields: ExtFields
) -> str | None:
    """Find a foreign cluster: the request's own, or that of the named group, which may be another one."""
    if registration_fence.cluster_names is None:
        return None
    cluster_name, broker_name = ext_fields.get("clusterName"), ext_fields.get("brokerName")
    if cluster_name not in registration_fence.cluster_names:
        return f"cluster {cluster_name}"
    broker_group = tables.broker_groups.get(broker_name) if broker_name is not None else None
    if broker_group is not None and broker_group.cluster_name not in registration_fence.cluster_names:
        return f"broker {broker_name} of cluster {broker_group.cluster_name}"
    return None


def _find_foreign_address(registration_fence: RegistrationFence, ext_fields: ExtFields) -> str | None:
    if registration_fence.broker_networks is None:
        return None
    for claimed_addr in (
        ext_fields.get("brokerAddr"),
        ext_fields.get("haServerAddr") or ext_fields.get("brokerAddr"),
    ):
        if not is_in_networks(
            (claimed_addr or "").rpartition(":")[0].strip("[]"), registration_fence.broker_networks
        ):
            return f"address {claimed_addr}"
    return None


def _find_foreign_topic_queue(
    registration_fence: RegistrationFence, tables: RouteTables, request_body: bytes
) -> str | None:
    """Find a foreign broker among those whose queues the request registers."""
    try:
        queue_datas = json_bodies.parse_queue_datas(request_body) if request_body else []
    except ValueError:
        # The handler will report the error, and changes nothing.
        return None
    for queue_data in queue_datas:
        broker_group = tables.broker_groups.get(queue_data.broker_name)
        if broker_group is None:
            continue
        if (
            registration_fence.cluster_names is not None
            and broker_group.cluster_name not in registration_fence.cluster_names
        ):
            return f"broker {queue_data.broker_name} of cluster {broker_group.cluster_name}"
        for broker_addr in broker_group.broker_addrs.values():
            foreign_address = _find_foreign_address(registration_fence, {"brokerAddr": broker_addr})
            if foreign_address is not None:
                return f"broker {queue_data.broker_name} at {foreign_address}"
    return None
