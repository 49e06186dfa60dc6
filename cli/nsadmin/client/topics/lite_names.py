"""Names of lite topics, and of the queues that store their messages. Pure."""

LITE_QUEUE_PREFIX = "%LMQ%$"
"""The queues of lite topics are named "%LMQ%$PARENT$LITE"."""


def parse_lite_name(queue_name: str) -> str:
    """Return the lite topic of a queue name: "LITE" for "%LMQ%$PARENT$LITE"."""
    return _split_name(queue_name)[1]


def parse_parent_name(queue_name: str) -> str:
    """Return the parent topic of a queue name: "PARENT" for "%LMQ%$PARENT$LITE"."""
    return _split_name(queue_name)[0]


def _split_name(queue_name: str) -> tuple[str, str]:
    """The parent topic and the lite topic; twice the same for the name of another topic."""
    if not queue_name.startswith(LITE_QUEUE_PREFIX):
        return queue_name, queue_name
    parent_name, _, lite_name = queue_name.removeprefix(LITE_QUEUE_PREFIX).partition("$")
    return parent_name, lite_name
