"""Certificates for tests of TLS, made on the spot by `openssl`; without it these tests are skipped."""

import shutil
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

_CURVE = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
EVERYWHERE = "DNS:localhost,IP:127.0.0.1,IP:::1"


class CertificatePair(NamedTuple):
    """A certificate and its key, as PEM files; the key is PKCS#8."""

    cert: Path
    key: Path

    def for_servers(self, clients: Path | None = None) -> ssl.SSLContext:
        """A context that shows this certificate, and with `clients` (a CA file) demands one."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients)
        return context


def run_openssl(*args: object) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl not found on PATH")
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, text=True, timeout=60)


class Authority:
    """A CA of its own in a folder."""

    def __init__(self, folder: Path, name: str = "test CA") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.ca, self._key = folder / "ca.pem", folder / "ca.key"
        run_openssl(
            "req", "-x509", "-newkey", *_CURVE, "-nodes", "-keyout", self._key, "-out", self.ca,
            "-subj", f"/CN={name}", "-days", 2,
        )  # fmt: skip

    def issue(self, name: str, names: str | None = EVERYWHERE, days: int = 2) -> CertificatePair:
        """A certificate for `name`, with subject alternative names; -1 days make one that has expired."""
        pair = CertificatePair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n" if names else "basicConstraints=CA:FALSE\n")
        run_openssl(
            "req", "-newkey", *_CURVE, "-nodes", "-keyout", pair.key, "-out", request, "-subj", f"/CN={name}"
        )
        run_openssl(
            "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._key, "-CAcreateserial",
            "-out", pair.cert, "-days", days, "-extfile", extensions,
        )  # fmt: skip
        return pair

    def lock_key(self, pair: CertificatePair, password: str) -> Path:
        """The same key in a file that only the password opens."""
        locked = pair.key.with_suffix(".locked.key")
        run_openssl("pkcs8", "-topk8", "-in", pair.key, "-passout", f"pass:{password}", "-out", locked)
        return locked
