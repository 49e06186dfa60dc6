"""Names of lite topics, and of the queues that store their messages. Pure."""

LITE_QUEUE_PREFIX = "%LMQ%$"
"""The queues of lite topics are named "%LMQ%$PARENT$LITE"."""


def parse_lite_name(queue_name: str) -> str:
    """Return the lite topic of a queue name: "LITE" for "%LMQ%$PARENT$LITE".

    Args:
        queue_name: The queue name.

    Returns:
        The lite topic; `queue_name` itself if it does not start with "%LMQ%$".
    """
    return (
        queue_name.removeprefix(LITE_QUEUE_PREFIX).partition("$")[2]
        if queue_name.startswith(LITE_QUEUE_PREFIX)
        else queue_name
    )


def parse_parent_name(queue_name: str) -> str:
    """Return the parent topic of a queue name: "PARENT" for "%LMQ%$PARENT$LITE".

    Args:
        queue_name: The queue name, or the name of another topic.

    Returns:
        The parent topic; `queue_name` itself if it does not start with "%LMQ%$".
    """
    if not queue_name.startswith(LITE_QUEUE_PREFIX):
        return queue_name
    return queue_name.removeprefix(LITE_QUEUE_PREFIX).partition("$")[0]
