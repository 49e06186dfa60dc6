"""SupportBundle, a support bundle that is open for reading."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from namesrv_core import operator_files
from nsadmin.client.bundles.answer_table import AnswerTable, decode_table
from nsadmin.client.verified_archive import InvalidArchiveError, VerifiedArchive

FORMAT_VERSION = 1
BUNDLE_SUFFIX = ".nsbundle.zip"
PROBES, JOURNAL_FOLDER, STATE_FOLDER, LOG_FOLDER = "probes.json", "journals/", "state/", "logs/"


class InvalidBundleError(InvalidArchiveError):
    """The file is not a support bundle, is damaged, or was changed."""


class LeftOut(NamedTuple):
    """Something that a bundle does not contain.

    Attributes:
        item: The missing thing.
        quantity: How many requests or files of that kind.
        reason: Why it is missing.
        code: The code of the requests; None for other things.
    """

    item: str
    quantity: int
    reason: str
    code: int | None = None


class BundleManifest(NamedTuple):
    """The manifest of a bundle.

    Attributes:
        tool_version: The version of nsadmin that made the bundle.
        created_ms: The moment that ages are computed for, in ms since 1970 (UTC).
        namesrv_addrs: The name servers that the client had.
        identity: How the client identified itself; see `Access.identity`.
        members_by_server: Server address to the name of the member with its answers.
        request_count: How many answers the bundle has.
        seconds: How long the collection took.
        anonymised: The kinds of names with pseudonyms: "addresses", "names", or nothing.
        left_out: The gaps of the bundle.
        proxies: The proxies that the client was configured with.
    """

    tool_version: str
    created_ms: int
    namesrv_addrs: tuple[str, ...]
    identity: str
    members_by_server: Mapping[str, str]
    request_count: int
    seconds: float
    anonymised: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    proxies: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return the fields of the manifest as JSON values."""
        return {
            "nsadmin": self.tool_version,
            "createdMs": self.created_ms,
            "nameServers": list(self.namesrv_addrs),
            "identity": self.identity,
            "servers": dict(self.members_by_server),
            "answers": self.request_count,
            "seconds": self.seconds,
            "anonymised": list(self.anonymised),
            "proxies": list(self.proxies),
            "leftOut": [dict(left_out._asdict()) for left_out in self.left_out],
        }


class SupportBundle:
    """An open bundle. Close it when no answer is needed any more.

    Attributes:
        path: The file.
        manifest: The manifest.
    """

    def __init__(self, bundle_path: Path) -> None:
        self.path = bundle_path
        self._archive = VerifiedArchive(bundle_path, "bundle", FORMAT_VERSION, InvalidBundleError)
        try:
            self.manifest = _parse_manifest(self._archive.manifest)
        except (ValueError, TypeError, LookupError, AttributeError):
            self._archive.close()
            raise InvalidBundleError(
                f"{bundle_path} is not a bundle of nsadmin: make one with nsadmin bundle create"
            ) from None

    def read_answers(self, server_addr: str) -> AnswerTable | None:
        """Read the answers of a server; None if the bundle has none."""
        member_name = self.manifest.members_by_server.get(server_addr)
        if member_name is None:
            return None
        content = self._archive.read_member(member_name)
        try:
            return decode_table(content)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise InvalidBundleError(f"{self.path} has unexpected contents ({error})") from None

    def read_probes(self) -> dict[str, Any]:
        """Read the results of probes by key."""
        content = self._archive.read_member(PROBES)
        try:
            return dict(operator_files.parse_json(content))
        except (ValueError, TypeError) as error:
            raise InvalidBundleError(f"{self.path} has unexpected contents ({error})") from None

    def list_files(self, folder: str) -> list[str]:
        """Return the paths of the files within a folder."""
        names = self._archive.list_names()
        return [name.removeprefix(folder) for name in names if name.startswith(folder)]

    def read_files(self, folder: str) -> Iterator[tuple[str, bytes]]:
        """Read the files of a folder one by one: path within the folder, and content."""
        for name in self.list_files(folder):
            yield name, self._archive.read_member(folder + name)

    def verify(self) -> None:
        """Verify every part."""
        self._archive.verify_members()

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception_info: object) -> None:
        self.close()


def _parse_manifest(record: Mapping[str, Any]) -> BundleManifest:
    return BundleManifest(
        str(record["nsadmin"]),
        int(record["createdMs"]),
        tuple(map(str, record["nameServers"])),
        str(record["identity"]),
        dict(record["servers"]),
        int(record["answers"]),
        float(record["seconds"]),
        tuple(map(str, record["anonymised"])),
        tuple(LeftOut(**left_out) for left_out in record["leftOut"]),
        tuple(map(str, record.get("proxies", ()))),
    )
