"""The access guard: the only place that decides whether a peer may send a request.

`RequestCode` says which roles may send it. A code that is not there needs the strongest role.
"""

from namesrv_core.errors import NoPermission, ResponseCode
from namesrv_core.handlers import fence_rules
from namesrv_core.handlers.decoded_bodies import (
    LazyRegistration,
    PreparedRequest,
    SignedRequest,
    TopicQueuesRequest,
)
from namesrv_core.protocol import headers
from namesrv_core.protocol.acl_signature import ACCESS_KEY_FIELD, has_valid_signature, is_signed_with
from namesrv_core.protocol.codes import ADMINS, BROKERS, AccessRole, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.access_policy import (
    NO_FENCE,
    AccessGrant,
    AccessPolicy,
    RegistrationFence,
    RequestPeer,
)
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.refusals import RefusalReason, RequestRefusal

# By number, because peers send any. A request that no name server knows needs the strongest role.
_SENDERS_BY_CODE = {code.value: code.senders or ADMINS for code in RequestCode}
_READ_ONLY_REFUSES = frozenset(code.value for code in RequestCode if code.changes and code.senders)
_INVALID_CLAIM_REMARK = "check signature failed."
_READ_ONLY_REMARK = "this name server is read-only"
_NO_REMOTE_CONFIG_REMARK = "this name server does not accept settings by request"
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
    policy: AccessPolicy,
    state: NameServerState,
    request: RemotingCommand,
    peer: RequestPeer,
    *,
    judges_body: bool = True,
) -> RequestRefusal | None:
    """The refusal of a request, or None if it is allowed. The key is checked only if the request needs it.

    The remarks are those of 5.x brokers, because clients show them to people. Without `judges_body` the body
    of a registration is not decoded, and a claim in it is no reason for a refusal.
    """
    if policy.read_only and request.code in _READ_ONLY_REFUSES:
        return RequestRefusal(RefusalReason.READ_ONLY, _READ_ONLY_REMARK, claimed_access_key(request))
    if policy.no_remote_config and request.code == RequestCode.UPDATE_NAMESRV_CONFIG:
        return RequestRefusal(
            RefusalReason.REMOTE_CONFIG, _NO_REMOTE_CONFIG_REMARK, claimed_access_key(request)
        )
    keyless, violation = _find_keyless_grant(policy, state, request, peer, judges_body)
    if keyless is not None:
        return None
    access_key = claimed_access_key(request)
    if access_key is None:
        if violation is not None:
            return RequestRefusal(
                RefusalReason.FENCE, f"{peer.host} has no permission to act for {violation}"
            )
        return RequestRefusal(
            RefusalReason.UNSIGNED, f"username cannot be null. {_describe_needed_role(request.code)}"
        )
    return _judge_signed(policy, state, request, peer, access_key, judges_body)


def is_key_needed(
    policy: AccessPolicy, state: NameServerState, request: RemotingCommand, peer: RequestPeer
) -> bool:
    """Whether the key possibly decides on the request. Reads no body of a registration, and no signature."""
    keyless, _ = _find_keyless_grant(policy, state, request, peer, judges_body=False)
    return keyless is None or (
        request.code == RequestCode.REGISTER_BROKER
        and keyless.fence != NO_FENCE
        and is_body_judged(policy, request, peer)
    )


def _find_keyless_grant(
    policy: AccessPolicy,
    state: NameServerState,
    request: RemotingCommand,
    peer: RequestPeer,
    judges_body: bool,
) -> tuple[AccessGrant | None, str | None]:
    """The grant that allows the request without a key, or None and what is outside the last fence."""
    violation = None
    for grant in policy.grants_without_key(peer):
        if not is_role_sufficient(grant.role, request.code):
            continue
        violation = _find_fence_violation(grant, state, request, judges_body)
        if violation is None:
            return grant, None
    return None, violation


def is_claim_refused(answer: RemotingCommand) -> bool:
    """Whether an answer refuses a key that is unknown, or a signature that is not the key's."""
    return answer.code == ResponseCode.NO_PERMISSION and answer.remark == _INVALID_CLAIM_REMARK


def is_body_judged(policy: AccessPolicy, request: RemotingCommand, peer: RequestPeer) -> bool:
    """Whether the guard possibly needs the decoded body of this registration."""
    account = policy.accounts_by_key.get(claimed_access_key(request) or "")
    grants = () if account is None else (account.grant,)
    is_fenced = any(grant.fence != NO_FENCE for grant in (*policy.grants_without_key(peer), *grants))
    return is_fenced and not fence_rules.has_only_topics(request.body)


def is_role_sufficient(role: AccessRole, code: int) -> bool:
    return role in _SENDERS_BY_CODE.get(code, ADMINS)


def _judge_signed(
    policy: AccessPolicy,
    state: NameServerState,
    request: RemotingCommand,
    peer: RequestPeer,
    access_key: str,
    judges_body: bool,
) -> RequestRefusal | None:
    account = policy.accounts_by_key.get(access_key)
    secret_key = find_secret(policy, access_key)
    is_signature_valid = (
        is_signed_with(request, request.expected_signature)
        if isinstance(request, SignedRequest) and request.secret_key == secret_key
        else has_valid_signature(request, secret_key)
    )
    if account is None or not is_signature_valid:
        # Do not reveal to a guessing peer which keys exist. The log has the difference.
        reason = RefusalReason.UNKNOWN_KEY if account is None else RefusalReason.BAD_SIGNATURE
        return RequestRefusal(reason, _INVALID_CLAIM_REMARK, access_key)
    if not account.grant.covers_peer(peer):
        return RequestRefusal(
            RefusalReason.NETWORK,
            f"User:{access_key} has no permission to send requests from {peer.host}",
            access_key,
        )
    if not is_role_sufficient(account.grant.role, request.code):
        remark = f"User:{access_key} has no permission. {_describe_needed_role(request.code)}"
        return RequestRefusal(RefusalReason.ROLE, remark, access_key)
    violation = _find_fence_violation(account.grant, state, request, judges_body)
    if violation is None:
        return None
    return RequestRefusal(
        RefusalReason.FENCE, f"User:{access_key} has no permission to act for {violation}", access_key
    )


def find_secret(policy: AccessPolicy, access_key: str) -> str:
    """The secret of a key, or a dummy: an unknown key takes the same time."""
    account = policy.accounts_by_key.get(access_key)
    return _DUMMY_SECRET if account is None else account.secret_key


def claimed_access_key(request: RemotingCommand) -> str | None:
    return (request.ext or {}).get(ACCESS_KEY_FIELD) or None


def _describe_needed_role(code: int) -> str:
    needed = next(role for role in AccessRole if is_role_sufficient(role, code))
    return f"{RequestCode.name_of(code)} needs the role {needed.name.lower()}"


def _find_fence_violation(
    grant: AccessGrant, state: NameServerState, request: RemotingCommand, judges_body: bool
) -> str | None:
    """The cluster, broker, address or topic outside the grant's fence, or None."""
    fence, ext_fields = grant.fence, request.ext or {}
    if fence == NO_FENCE or _SENDERS_BY_CODE.get(request.code) != BROKERS:
        return None
    if request.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
        queues = TopicQueuesRequest.decode_once(request, state.decode_limits.json_depth).queue_datas
        # The handler will report an error of the body, and changes nothing.
        return (
            fence_rules.find_foreign_topic_queue(fence, state.tables, queues)
            if isinstance(queues, list)
            else None
        )
    violation = fence_rules.find_foreign_cluster(
        fence, state.tables, ext_fields
    ) or fence_rules.find_foreign_address(fence, ext_fields)
    if judges_body and violation is None and request.code == RequestCode.REGISTER_BROKER:
        violation = _find_foreign_body_claim(fence, state, request)
    return violation


def _find_foreign_body_claim(
    fence: RegistrationFence, state: NameServerState, request: RemotingCommand
) -> str | None:
    header = headers.read_header(headers.RegisterBroker, request.ext)
    if not header.compressed and fence_rules.has_only_topics(request.body):
        return None
    # A large body has been decoded in steps.
    lazy = (
        request.lazy_registration
        if isinstance(request, PreparedRequest)
        else LazyRegistration(state, request, header, now_ms=0)
    )
    registration = lazy.decoded_registration
    if not isinstance(registration, BrokerRegistration):
        # The handler will report the error, and changes nothing.
        return None
    return fence_rules.find_foreign_body_claim(fence, state.tables, header, registration)
