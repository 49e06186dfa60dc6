"""What the server offers, from the options of the command."""

from typing import Any

import pytest

from nsadmin.client.connection.addresses import NameServerList
from nsadmin.commands.mcp.served_content import ServedContent, build_content
from nsadmin.commands.mcp.tool_calls import CallLimits
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session, SharedOptions


def content(**options: Any) -> ServedContent:
    session = Session(SharedOptions(NameServerList(("h:1",), "command line")), may_change=False)
    given: dict[str, Any] = {
        "contexts_text": None, "tools_text": None, "files_folder": None, "allows_changes": False, **options,
    }  # fmt: skip
    return build_content(session, **given, limits=CallLimits(1, 1))


def test_all_reading_tools_and_pages_by_default() -> None:
    served = content()
    assert {"topicRoute", "checkAll", "orphans"} <= served.tools.keys()
    assert not [name for name in served.tools if name.startswith("plan_")]
    assert "backupShow" not in served.tools
    assert "how-to/dead-letters.md" in served.pages


def test_tools_are_chosen_by_name_and_by_category() -> None:
    assert set(content(tools_text="clusterList, kv get,checklag").tools) == {
        "clusterList",
        "kvGet",
        "checkLag",
    }
    lite_tools = content(tools_text="lite-topics", allows_changes=True).tools
    assert {"getParentTopicInfo", "plan_triggerLiteDispatch"} <= lite_tools.keys()
    assert "topicRoute" not in lite_tools


@pytest.mark.parametrize(
    ("tools_text", "problem"),
    [
        ("topicRout", 'no tool "topicRout" for --tools: did you mean "topicRoute" or "topicList" or'),
        ("auditList", 'no tool "auditList" for --tools: nsadmin audit list is left out, because '),
        (",", 'no tool in --tools: write names, such as "topics,clusterList"'),
        ("updateTopic", 'no tool "updateTopic" for --tools: nsadmin updateTopic needs --allow-changes'),
    ],
)
def test_a_tool_that_does_not_exist_is_a_mistake(tools_text: str, problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        content(tools_text=tools_text)
    assert str(raised.value).startswith(problem)
