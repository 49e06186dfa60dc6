"""Parses the arguments of ACL commands: subjects, resources, networks, entries."""

from nsadmin.client.access.acls import (
    ACL_ACTIONS,
    ACL_DECISIONS,
    RESOURCE_TYPES,
    AclEntry,
)
from nsadmin.command_line import argument_values
from nsadmin.console.exit_codes import UsageError


def parse_subject(subject_text: str) -> str:
    """Complete a name to User:NAME: brokers know only this type, and fail on a subject without a type."""
    subject_type, colon_found, user_name = subject_text.partition(":")
    if colon_found and (subject_type.lower() != "user" or not user_name):
        raise UsageError(f'invalid subject "{subject_text}": write User:NAME')
    return f"User:{user_name if colon_found else subject_text}"


def parse_entries(
    resource_list: str, action_list: str, decision_text: str, source_ip_list: str | None
) -> tuple[AclEntry, ...]:
    action_names = tuple(
        argument_values.parse_choice("-a", list_item, ACL_ACTIONS) or ""
        for list_item in argument_values.parse_name_list("-a", action_list)
    )
    decision_word = argument_values.parse_choice("-d", decision_text, ACL_DECISIONS) or ""
    source_networks = tuple(
        _parse_network(list_item) for list_item in argument_values.parse_name_list("-i", source_ip_list)
    )
    return tuple(
        AclEntry(resource_name, action_names, decision_word, source_networks)
        for resource_name in parse_resources(resource_list)
    )


def parse_resources(resource_list: str | None, flag: str = "-r") -> list[str]:
    return [_parse_resource(item, flag) for item in argument_values.parse_name_list(flag, resource_list)]


def _parse_resource(resource_text: str, flag: str) -> str:
    type_text, colon_found, resource_name = resource_text.partition(":")
    resource_type = next(
        (type_name for type_name in RESOURCE_TYPES if type_name.lower() == type_text.lower()), None
    )
    if resource_text == "*":
        return resource_text
    if not colon_found or resource_type is None or not resource_name or "*" in resource_name[:-1]:
        raise UsageError(
            f'invalid resource "{resource_text}" for {flag}: write TYPE:NAME, TYPE:PREFIX* or TYPE:* '
            f"with a type of {', '.join(RESOURCE_TYPES)}, or * for all resources"
        )
    return f"{resource_type}:{resource_name}"


def _parse_network(network_text: str) -> str:
    from ipaddress import ip_network

    try:
        ip_network(network_text, strict=False)
    except ValueError:
        raise UsageError(
            f'invalid network "{network_text}" for -i: write an address, or a network such as 10.0.0.0/8'
        ) from None
    return network_text
