"""The names of all settings of servers, which the search of `nsadmin help` finds."""

import json
from importlib.resources import files

SETTING_COMMANDS = {
    "updateBrokerConfig": "broker",
    "getBrokerConfig": "broker",
    "updateNamesrvConfig": "namesrv",
    "getNamesrvConfig": "namesrv",
}
"""The commands for all settings of a kind of servers."""


def read_setting_names() -> dict[str, set[str]]:
    """The names of the settings of released servers, by kind of server."""
    defaults = json.loads(files("nsadmin.operations").joinpath("config_defaults.json").read_text("utf-8"))
    return {kind: set().union(*releases.values()) for kind, releases in defaults.items()}
