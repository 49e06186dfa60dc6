"""`namesrv`: runs a name server in this process; no other command imports it."""


def namesrv(argv: list[str]) -> int:
    """Run a name server until it is told to stop; its flags are mqnamesrv's."""
    from namesrv_core.__main__ import main

    return main(argv, "nsadmin namesrv")
