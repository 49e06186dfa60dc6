"""The operator's own aliases, hotkeys and plugins, from tui-commands.yaml."""
