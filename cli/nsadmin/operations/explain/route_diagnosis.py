"""Why clients find no route: all causes in their order. Pure."""

from nsadmin.operations.explain import name_server_causes, proxy_causes, registration_causes, route_causes
from nsadmin.operations.explain.diagnosis import CauseExplanation, explain_causes
from nsadmin.operations.explain.facts import RouteFacts
from nsadmin.operations.explain.findings import CauseCheck

ALL_CAUSE_CHECKS: tuple[CauseCheck[RouteFacts], ...] = (
    *name_server_causes.NAME_SERVER_CHECKS,
    *registration_causes.REGISTRATION_CHECKS,
    *route_causes.ROUTE_CHECKS,
    *proxy_causes.PROXY_CHECKS,
)
"""All checks in their order: an earlier cause can hide later ones."""


def explain_route(facts: RouteFacts) -> list[CauseExplanation]:
    """At least one explanation for each cause that applies."""
    is_silent = all(view.is_silent for view in facts.server_views)
    return explain_causes(ALL_CAUSE_CHECKS, facts, "no name server answered" if is_silent else None)
