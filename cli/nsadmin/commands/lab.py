"""`lab`: runs a name server and a fleet of simulated brokers; no other command imports them."""


def lab(argv: list[str]) -> int:
    """Run something to play with until Ctrl-C."""
    from namesrv_core.fleet.lab import main

    return main(argv, "nsadmin lab")
