"""Sources of credentials: the environment, mqadmin's tools.yml, a file, the system's keyring.

No error, repr or source name here contains a secret, or any part of a credentials file.
"""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core.errors import BadSettings
from nsadmin.client.access import Credentials

if TYPE_CHECKING:
    from pathlib import Path

VARIABLES = ("NSADMIN_ACCESS_KEY", "NSADMIN_SECRET_KEY", "NSADMIN_SECURITY_TOKEN")
SOURCES = ("env", "file:PATH", "tools:PATH", "keyring:NAME")
_KEYS = ("accessKey", "secretKey", "securityToken")
_SERVICE = "nsadmin"
# The sample credentials in the tools.yml of every distribution, which are not secret.
_SAMPLE = Credentials("rocketmq2", "12345678")


class Found(NamedTuple):
    """Credentials and their source.

    Attributes:
        credentials: The credentials.
        source: The source, in a form of SOURCE_FORMS.
        warning: A line about a problem of the source; None without one.
    """

    credentials: Credentials
    source: str
    warning: str | None = None


def usual(environ: Mapping[str, str] = os.environ) -> Found | None:
    """Find the default credentials: the environment, else $ROCKETMQ_HOME/conf/tools.yml.

    Returns:
        The credentials; None if neither source has any.

    Raises:
        BadSettings: One of the two keys is missing, or the file cannot be read.
    """
    found = from_environment(environ)
    if found is not None:
        return Found(found, "env")
    home = environ.get("ROCKETMQ_HOME")
    tools = os.path.join(home, "conf", "tools.yml") if home else ""
    return _found_in_tools(_path(tools)) if os.path.exists(tools) else None


def from_source(
    source: str, environ: Mapping[str, str] = os.environ, folder: str | os.PathLike[str] = ""
) -> Found:
    """Read the credentials of a source.

    Args:
        source: The source, in a form of SOURCE_FORMS.
        environment: The environment variables.
        base_folder: The folder of relative paths. Default: the working directory.

    Raises:
        BadSettings: The source is invalid or has no credentials; the text is one line that says what to do.
    """
    kind, _, name = source.partition(":")
    if kind == "keyring" and name:
        return Found(from_keyring(name), source)
    if kind in ("file", "tools") and name:
        path = _path(os.path.join(folder, os.path.expanduser(name)))
        found = _found_in_tools(path) if kind == "tools" else Found(from_file(path), source)
    elif source == "env":
        of_environment = from_environment(environ)
        found = None if of_environment is None else Found(of_environment, source)
    else:
        # Do not show the value: it may be a secret that was typed in the wrong place.
        raise BadSettings(f"credentials: that names no place: write {', '.join(SOURCES)}")
    if found is None:
        missing = f"set {VARIABLES[0]} and {VARIABLES[1]}" if kind == "env" else "it has none"
        raise BadSettings(f"no credentials in {source}: {missing}")
    return found


def from_environment(environ: Mapping[str, str] = os.environ) -> Credentials | None:
    """Read NSADMIN_ACCESS_KEY, NSADMIN_SECRET_KEY and the optional NSADMIN_SECURITY_TOKEN.

    Returns:
        The credentials; None if neither key is set.

    Raises:
        BadSettings: Only one of the two keys is set.
    """
    return _pair("the environment", VARIABLES, [environ.get(name) for name in VARIABLES])


def from_tools(path: "Path") -> Credentials | None:
    """Read accessKey and secretKey from mqadmin's tools.yml.

    Returns:
        The credentials; None if the file has neither key.

    Raises:
        BadSettings: The file cannot be read, or has only one of the two keys.
    """
    return _from_content(path, _yaml(path, _text(path)))


def from_file(path: "Path") -> Credentials:
    """Read accessKey, secretKey and securityToken from a file that is not world-readable.

    A name that ends in .yml or .yaml means YAML, any other name properties. Keys are case-insensitive,
    because Java's clients write AccessKey.

    Raises:
        BadSettings: The file is world-readable, cannot be read, or lacks a key.
    """
    require_privacy(path)
    text = _text(path)
    is_yaml = path.suffix.lower() in (".yml", ".yaml")
    found = _from_content(path, _yaml(path, text) if is_yaml else _properties(path, text))
    if found is None:
        raise BadSettings(f"{path} has no {_KEYS[0]} and no {_KEYS[1]}")
    return found


def from_keyring(name: str) -> Credentials:
    """Read the credentials that `save_to_keyring` stored under a name.

    Raises:
        BadSettings: The keyring has no such entry, does not answer, or is not installed.
    """
    text = _ask_keyring(lambda keyring: keyring.get_password(_SERVICE, name))
    if text is None:
        raise BadSettings(f"the keyring has no credentials {name!r}: nsadmin contextLogin stores them")
    try:
        access_key, secret_key, token = map(json.loads(text).get, _KEYS)
    except (ValueError, AttributeError):
        access_key = secret_key = token = None
    if not (isinstance(access_key, str) and isinstance(secret_key, str)):
        raise BadSettings(f"the keyring's {name!r} is not what nsadmin contextLogin stores")
    return Credentials(access_key, secret_key, token)


def to_keyring(name: str, credentials: Credentials) -> None:
    """Store credentials in the system's keyring; replace an entry with the same name.

    Raises:
        BadSettings: The keyring does not answer, or is not installed.
    """
    text = json.dumps(dict(zip(_KEYS, credentials, strict=True)))
    _ask_keyring(lambda keyring: keyring.set_password(_SERVICE, name, text))


def to_file(path: "Path", credentials: Credentials) -> None:
    """Store credentials in a YAML file that only its owner may read; replace an existing file.

    Raises:
        BadSettings: The file cannot be written.
    """
    import yaml

    from nsadmin.client import private_file

    values = zip(_KEYS, credentials, strict=True)
    text = yaml.safe_dump({key: value for key, value in values if value is not None}, sort_keys=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        private_file.replace(str(path), text)
    except OSError as error:
        raise BadSettings(f"{path} cannot be written: {error.strerror}") from None


def _path(text: str) -> "Path":
    # Imported here because most commands read no file, and loading pathlib takes time.
    from pathlib import Path

    return Path(text)


def _found_in_tools(path: "Path") -> Found | None:
    found = from_tools(path)
    if found is None:
        return None
    is_told = found != _SAMPLE and _is_public(path)
    warning = f"everybody may read the secret key in {path}: chmod o-r {path}" if is_told else None
    return Found(found, f"tools:{path}", warning)


def _pair(where: str, names: tuple[str, ...], values: list[str | None]) -> Credentials | None:
    access_key, secret_key, token = (value or None for value in values)
    if access_key and secret_key:
        return Credentials(access_key, secret_key, token)
    present = [name for name, value in zip(names, values, strict=True) if value]
    if not present:
        return None
    missing = " and ".join(name for name in names[:2] if name not in present)
    raise BadSettings(f"{where} has {present[0]} without {missing}")


def _from_content(path: "Path", content: Mapping[Any, Any]) -> Credentials | None:
    by_name = {str(key).lower(): value for key, value in content.items()}
    values = [by_name.get(key.lower()) for key in _KEYS]
    if not all(value is None or isinstance(value, str) for value in values):
        raise BadSettings(f"{path}: {' and '.join(_KEYS[:2])} have to be plain texts")
    return _pair(str(path), _KEYS, values)


def _text(path: "Path") -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadSettings(f"{path} is no text") from None


def _yaml(path: "Path", text: str) -> Mapping[Any, Any]:
    """Parse YAML with every scalar as text: the sample's secretKey 12345678 must not become a number."""
    import yaml

    try:
        content = yaml.load(text, yaml.BaseLoader) or {}
    except yaml.YAMLError as error:
        # Show only the line number: the text of the YAML error quotes the file.
        mark = getattr(error, "problem_mark", None)
        raise BadSettings(f"{path} is no YAML{f' in line {mark.line + 1}' if mark else ''}") from None
    if not isinstance(content, dict):
        raise BadSettings(f"{path} has to be lines like {_KEYS[0]}: VALUE")
    return content


def _properties(path: "Path", text: str) -> Mapping[Any, Any]:
    from javaproperties import InvalidUEscapeError, loads

    try:
        return dict(loads(text))
    except InvalidUEscapeError:
        raise BadSettings(f"{path} has a \\u without four digits behind it") from None


def _is_public(path: "Path") -> bool:
    try:
        return os.name == "posix" and bool(path.stat().st_mode & 0o004)
    except OSError:
        return False


def require_privacy(path: "Path") -> None:
    """Check that a file with a secret is not world-readable.

    Raises:
        BadSettings: The file is world-readable.
    """
    if _is_public(path):
        raise BadSettings(f"{path} has a secret, and everybody may read it: chmod 600 {path}")


def _ask_keyring(question: Any) -> Any:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ModuleNotFoundError:
        raise BadSettings("the system's keyring needs a package: pip install 'nsadmin[keyring]'") from None
    try:
        return question(keyring)
    except KeyringError as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise BadSettings(f"the system's keyring does not answer: {reason}") from None
