"""Certificates: what this server's TLS is made of, and that it is renewed without a restart.

Its law: a pair is used whole or not at all, and what is in use stays until something better is there.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from namesrv_core.errors import BadSettings
from namesrv_core.server.log import log
from namesrv_core.server.sparingly import Sparingly
from namesrv_core.state.tls_settings import TlsSettings
from namesrv_core.transport.doorway import Terms

if TYPE_CHECKING:
    import ssl

    from namesrv_core.transport.suites import Offer
    from namesrv_core.transport.tls_server import ServerFiles

LOOK = 1.0
"""Seconds between two looks at the files."""


_WRITING = "the files of TLS are being written"


class _Found(NamedTuple):
    """What the files hold. With neither `context` nor `problem` they are just being written."""

    digest: bytes | None
    context: "ssl.SSLContext | None"
    name: str = ""
    has_ended: bool = False
    problem: str = ""
    ends_at: float | None = None


class Certificates:
    """`terms` is what a listener needs, None with TLS disabled.

    BadSettings where TLS is demanded and cannot be had. `ends_at` is when the certificate in use expires
    (seconds since 1970), None for one of our own making; the counts only grow.
    """

    def __init__(self, settings: TlsSettings, read: "Callable[[ServerFiles], _Found] | None" = None) -> None:
        self._read = read or _read
        self._files: ServerFiles | None = None
        self._seen: bytes | None = None
        self._tried: bytes | None = None
        self._used: bytes | None = None
        self._problem = ""
        self._looking: asyncio.Task[None] | None = None
        self._log = Sparingly()
        self.ends_at: float | None = None
        self.reloads = self.failed_reloads = self.refused = 0
        self.terms: Terms | None = None
        if settings.mode == "disabled":
            return
        _check_offer(settings)
        # Late: a server that nobody asks for TLS need not carry OpenSSL.
        self.terms = Terms(None, settings.mode == "enforcing", partial(_self_signed, settings), self._refused)
        if settings.cert_path is not None and settings.key_path is not None:
            self._begin(settings.cert_path, settings.key_path, settings)
        elif self.terms.is_demanded:
            self.terms.current()

    def _begin(self, cert: str, key: str, settings: TlsSettings) -> None:
        from namesrv_core.transport.tls_server import ServerFiles

        assert self.terms is not None
        trust = Path(settings.trust_path) if settings.trust_path else None
        self._files = ServerFiles(
            Path(cert), Path(key), settings.key_password, settings.clients, trust, _offer(settings)
        )
        self.terms = Terms(None, self.terms.is_demanded, None, self._refused)
        found = self._read(self._files)
        if found.context is None and self.terms.is_demanded:
            raise BadSettings(found.problem or _WRITING)
        self._take(found)

    def look(self) -> None:
        """Called every `LOOK` seconds: see whether the files have changed. Nobody waits for the disk."""
        if self._files is not None and (self._looking is None or self._looking.done()):
            self._looking = asyncio.get_running_loop().create_task(self._look(self._files))

    async def _look(self, files: "ServerFiles") -> None:
        found = await asyncio.to_thread(self._read, files)
        if found.digest is not None and found.digest == self._tried:
            self._seen = found.digest
            if found.digest == self._used:
                self._problem = ""
        elif found.digest == self._seen and found.digest is not None:
            self._take(found)
        else:
            # Perhaps somebody is writing them: whoever still is will have gone on by the next look.
            self._seen = found.digest
            if found.problem and found.digest is None:
                self._say(found.problem)

    def reload(self) -> None:
        """Take what the files hold now, at once; said in any case."""
        if self._files is None:
            return
        found = self._read(self._files)
        if found.digest is not None and found.digest == self._used:
            log.info("TLS: the certificate is as it was")
            return
        self._problem = ""
        self._take(found)

    def _take(self, found: _Found) -> None:
        assert self.terms is not None
        self._tried = self._seen = found.digest
        if found.context is None:
            self.failed_reloads += self._used is not None
            self._say(found.problem or _WRITING)
            return
        self._problem = ""
        self.reloads += self._used is not None
        self._used = found.digest
        self.ends_at = found.ends_at
        self.terms.context = found.context
        log.info("TLS: new connections are shown %s", found.name)
        if found.has_ended:
            log.warning("TLS: that certificate has expired: clients that verify it do not connect")

    def _say(self, problem: str) -> None:
        """Once for each problem, however often it is met."""
        assert self.terms is not None
        if problem == self._problem:
            return
        self._problem = problem
        rest = (
            "no TLS until that is put right"
            if self.terms.context is None
            else "the certificate of before stays"
        )
        log.error("TLS: %s: %s", problem, rest)

    def stop(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    def _refused(self, peer: str, reason: str) -> None:
        self.refused += 1
        self._log.warning(reason.partition("(")[0].partition(" of ")[0], f"closing {peer}: it {reason}")


def outgoing(settings: TlsSettings) -> "ssl.SSLContext | None":
    """How brokers are asked, None for plain text; as Java's, without a look at host names. BadSettings."""
    chosen = settings.outgoing
    if chosen is None:
        return None
    from namesrv_core.transport import suites
    from namesrv_core.transport.tls import TlsClient

    trust, cert, key = (
        Path(path) if path else None for path in (chosen.trust_path, chosen.cert_path, chosen.key_path)
    )
    context = TlsClient(trust, cert, key, chosen.key_password, verify=chosen.is_verifying).context
    context.check_hostname = False
    suites.restrict(context, _offer(settings))
    return context


def _offer(settings: TlsSettings) -> "Offer":
    from namesrv_core.transport.suites import Offer

    return Offer(settings.protocols, settings.ciphers)


def _check_offer(settings: TlsSettings) -> None:
    """What no certificate could put right is told at the start."""
    if settings.protocols or settings.ciphers:
        import ssl

        from namesrv_core.transport.suites import restrict

        restrict(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), _offer(settings))


def _self_signed(settings: TlsSettings) -> "ssl.SSLContext":
    from namesrv_core.transport.tls_server import self_signed

    made = self_signed(_offer(settings))
    log.info(
        "TLS: a client asked for it, and is shown a certificate that was made for the purpose (test mode)"
    )
    return made


def _read(files: "ServerFiles") -> _Found:
    """What the files hold, read at one moment: a file that changed meanwhile makes it nothing."""
    from namesrv_core.transport import tls, tls_server

    try:
        digest = files.digest()
    except BadSettings as error:
        return _Found(None, None, problem=str(error))
    try:
        context = tls_server.context(files)
        if files.digest() != digest:
            return _Found(None, None)
        own = tls.in_file(files.cert)[0]
    except BadSettings as error:
        return _Found(digest, None, problem=str(error))
    ends = datetime.fromtimestamp(tls.ends_at(own), UTC)
    name = f"the certificate of {tls.name_of(own)!r} in {files.cert}, valid until {ends:%Y-%m-%dT%H:%M:%SZ}"
    return _Found(digest, context, name, ends < datetime.now(UTC), ends_at=ends.timestamp())
