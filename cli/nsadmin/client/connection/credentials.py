"""Sources of credentials: the environment, mqadmin's tools.yml, a file, the system's keyring.

No error, repr or source name here contains a secret, or any part of a credentials file.
"""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.errors import BadSettings
from namesrv_core.private_files import advise_mode
from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.extras import describe_missing

if TYPE_CHECKING:
    from pathlib import Path

CREDENTIAL_VARIABLES = ("NSADMIN_ACCESS_KEY", "NSADMIN_SECRET_KEY", "NSADMIN_SECURITY_TOKEN")
SOURCE_FORMS = ("env", "file:PATH", "tools:PATH", "keyring:NAME")
_FILE_KEYS = ("accessKey", "secretKey", "securityToken")
_KEYRING_SERVICE = "nsadmin"
# The sample credentials in the tools.yml of every distribution, which are not secret.
_SAMPLE_CREDENTIALS = Credentials("rocketmq2", "12345678")


class FoundCredentials(NamedTuple):
    """Credentials and their source.

    Attributes:
        credentials: The credentials.
        source: The source, in a form of SOURCE_FORMS.
        warning: A line about a problem of the source, or None.
    """

    credentials: Credentials
    source: str
    warning: str | None = None


def find_credentials(environment: Mapping[str, str] = os.environ) -> FoundCredentials | None:
    """Find the default credentials: the environment, else $ROCKETMQ_HOME/conf/tools.yml."""
    found_credentials = from_environment(environment)
    if found_credentials is not None:
        return FoundCredentials(found_credentials, "env")
    rocketmq_home = environment.get("ROCKETMQ_HOME")
    tools_path = os.path.join(rocketmq_home, "conf", "tools.yml") if rocketmq_home else ""
    return _find_in_tools(_make_path(tools_path)) if os.path.exists(tools_path) else None


def from_source(
    source: str, environment: Mapping[str, str] = os.environ, base_folder: str | os.PathLike[str] = ""
) -> FoundCredentials:
    """Read the credentials of a source."""
    source_kind, _, source_name = source.partition(":")
    if source_kind == "keyring" and source_name:
        return FoundCredentials(from_keyring(source_name), source)
    if source_kind in ("file", "tools") and source_name:
        source_path = _make_path(os.path.join(base_folder, os.path.expanduser(source_name)))
        found_credentials = (
            _find_in_tools(source_path)
            if source_kind == "tools"
            else FoundCredentials(from_file(source_path), source)
        )
    elif source == "env":
        credentials = from_environment(environment)
        found_credentials = None if credentials is None else FoundCredentials(credentials, source)
    else:
        # Do not show the value: it may be a secret that was typed in the wrong place.
        raise BadSettings(f"invalid source of credentials: use {', '.join(SOURCE_FORMS)}")
    if found_credentials is None:
        missing_hint = (
            f"set {CREDENTIAL_VARIABLES[0]} and {CREDENTIAL_VARIABLES[1]}"
            if source_kind == "env"
            else "the source is empty"
        )
        raise BadSettings(f"no credentials in {source}: {missing_hint}")
    return found_credentials


def from_environment(environment: Mapping[str, str] = os.environ) -> Credentials | None:
    """Read NSADMIN_ACCESS_KEY, NSADMIN_SECRET_KEY and the optional NSADMIN_SECURITY_TOKEN."""
    return _make_credentials(
        "the environment", CREDENTIAL_VARIABLES, [environment.get(name) for name in CREDENTIAL_VARIABLES]
    )


def from_tools(file_path: "Path") -> Credentials | None:
    """Read accessKey and secretKey from mqadmin's tools.yml."""
    return _credentials_from_content(file_path, _parse_yaml(file_path, _read_text(file_path)))


def from_file(file_path: "Path") -> Credentials:
    """Read accessKey, secretKey and securityToken from a file that is not world-readable.

    A name that ends in .yml or .yaml means YAML, any other name properties. Keys are case-insensitive,
    because Java's clients write AccessKey.
    """
    require_private_file(file_path)
    file_text = _read_text(file_path)
    is_yaml = file_path.suffix.lower() in (".yml", ".yaml")
    found_credentials = _credentials_from_content(
        file_path, _parse_yaml(file_path, file_text) if is_yaml else _parse_properties(file_path, file_text)
    )
    if found_credentials is None:
        raise BadSettings(f"{file_path} has neither {_FILE_KEYS[0]} nor {_FILE_KEYS[1]}")
    return found_credentials


def from_keyring(entry_name: str) -> Credentials:
    """Read the credentials that `save_to_keyring` stored under a name."""
    stored_text = _call_keyring(lambda keyring: keyring.get_password(_KEYRING_SERVICE, entry_name))
    if stored_text is None:
        raise BadSettings(
            f'the keyring has no credentials "{entry_name}": `nsadmin context login --help` shows how to '
            "store them"
        )
    try:
        access_key, secret_key, security_token = map(json.loads(stored_text).get, _FILE_KEYS)
    except (ValueError, AttributeError):
        access_key = secret_key = security_token = None
    if not (isinstance(access_key, str) and isinstance(secret_key, str)):
        raise BadSettings(
            f'the entry "{entry_name}" of the keyring is not in nsadmin\'s format: '
            "`nsadmin context login --help` shows how to replace it"
        )
    return Credentials(access_key, secret_key, security_token)


def save_to_keyring(entry_name: str, credentials: Credentials) -> None:
    """Store credentials in the system's keyring; replace an entry with the same name."""
    stored_text = json.dumps(dict(zip(_FILE_KEYS, credentials, strict=True)))
    _call_keyring(lambda keyring: keyring.set_password(_KEYRING_SERVICE, entry_name, stored_text))


def save_to_file(file_path: "Path", credentials: Credentials) -> None:
    """Store credentials in a YAML file that only its owner may read; replace an existing file."""
    import yaml

    from nsadmin.client import private_file

    credential_items = zip(_FILE_KEYS, credentials, strict=True)
    yaml_text = yaml.safe_dump({key: v for key, v in credential_items if v is not None}, sort_keys=False)
    try:
        file_path.parent.mkdir(parents=True, exist_ok=True)
        private_file.replace_private_file(str(file_path), yaml_text)
    except OSError as error:
        raise BadSettings(f"{file_path} is not writable: {error.strerror}") from None


def _make_path(path_text: str) -> "Path":
    # Imported here because most commands read no file, and loading pathlib takes time.
    from pathlib import Path

    return Path(path_text)


def _find_in_tools(file_path: "Path") -> FoundCredentials | None:
    found_credentials = from_tools(file_path)
    if found_credentials is None:
        return None
    needs_warning = found_credentials != _SAMPLE_CREDENTIALS and _is_world_readable(file_path)
    warning = (
        f"all users of this machine can read the secret key in {file_path}: {advise_mode(file_path, 'o-r')}"
        if needs_warning
        else None
    )
    return FoundCredentials(found_credentials, f"tools:{file_path}", warning)


def _make_credentials(
    source_text: str, key_names: tuple[str, ...], values: list[str | None]
) -> Credentials | None:
    access_key, secret_key, security_token = (value or None for value in values)
    if access_key and secret_key:
        return Credentials(access_key, secret_key, security_token)
    present_names = [key_name for key_name, value in zip(key_names, values, strict=True) if value]
    if not present_names:
        return None
    missing_names = " and ".join(key_name for key_name in key_names[:2] if key_name not in present_names)
    raise BadSettings(f"{source_text} has {present_names[0]} without {missing_names}")


def _credentials_from_content(file_path: "Path", file_content: Mapping[Any, Any]) -> Credentials | None:
    values_by_name = {str(file_key).lower(): value for file_key, value in file_content.items()}
    credential_values = [values_by_name.get(file_key.lower()) for file_key in _FILE_KEYS]
    if not all(value is None or isinstance(value, str) for value in credential_values):
        raise BadSettings(f"{file_path}: {' and '.join(_FILE_KEYS[:2])} must be plain texts")
    return _make_credentials(str(file_path), _FILE_KEYS, credential_values)


def _read_text(file_path: "Path") -> str:
    try:
        return operator_files.read_text(file_path, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
    except OSError as error:
        raise BadSettings(f"{file_path} is not readable: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSettings(f"{file_path} is not a text file") from None


def _parse_yaml(file_path: "Path", file_text: str) -> Mapping[Any, Any]:
    """Parse YAML with every scalar as text: the sample's secretKey 12345678 must not become a number."""
    try:
        file_content = operator_files.YamlDocument(file_text, is_as_written=True).value or {}
    except operator_files.InvalidYaml as error:
        # Show only the line number: the text of the YAML error quotes the file.
        raise BadSettings(f"{file_path} is not valid YAML{error.in_line}") from None
    if not isinstance(file_content, dict):
        raise BadSettings(f"{file_path} must contain lines like {_FILE_KEYS[0]}: VALUE")
    return file_content


def _parse_properties(file_path: "Path", file_text: str) -> Mapping[Any, Any]:
    from javaproperties import InvalidUEscapeError, loads

    try:
        return dict(loads(file_text))
    except InvalidUEscapeError:
        raise BadSettings(f"{file_path} has a \\u that is not followed by four digits") from None


def _is_world_readable(file_path: "Path") -> bool:
    try:
        return os.name == "posix" and bool(file_path.stat().st_mode & 0o004)
    except OSError:
        return False


def require_private_file(file_path: "Path", **words: str) -> None:
    """Check that a file with a secret is not world-readable. `words` are those of `advise_mode`."""
    if _is_world_readable(file_path):
        raise BadSettings(
            f"all users of this machine can read the secret in {file_path}: {advise_mode(file_path, **words)}"
        )


def _call_keyring(keyring_call: Any) -> Any:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ModuleNotFoundError:
        raise BadSettings(describe_missing("keyring", "keyring")) from None
    try:
        return keyring_call(keyring)
    except KeyringError as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise BadSettings(f"the system's keyring does not answer: {reason}") from None
