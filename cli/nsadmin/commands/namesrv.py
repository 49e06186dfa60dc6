"""`namesrv`: runs a name server in this process. Nothing else in nsadmin imports the server."""


def namesrv(argv: list[str]) -> int:
    """Run a name server until it is told to stop; its flags are mqnamesrv's."""
    from namesrv_core.__main__ import main

    try:
        return main(argv, "nsadmin namesrv")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
