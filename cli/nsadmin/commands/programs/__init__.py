"""Commands that run as programs: name server, lab, TUI, collector, batch, completion."""
