"""Storage options: gives delta-rs the address and the credentials that Hadoop has for an S3 bucket."""

from collections.abc import Callable
from urllib.parse import urlsplit

_OPTIONS_BY_SETTING = {
    "endpoint": "aws_endpoint",
    "endpoint.region": "aws_region",
    "access.key": "aws_access_key_id",
    "secret.key": "aws_secret_access_key",
    "session.token": "aws_session_token",
}


def read_storage_options(root_url: str, read_setting: Callable[[str], str | None]) -> dict[str, str] | None:
    """Return the options of delta-rs for a folder; None for file systems that need none.

    Args:
        root_url: The qualified URL of the output folder.
        read_setting: Returns a setting of Hadoop, or None. Settings of a bucket
            (`fs.s3a.bucket.NAME.endpoint`) go before general ones. If both lack a value, delta-rs
            takes it from the environment (`AWS_*`) or from the machine's role, as Hadoop does.
    """
    url_parts = urlsplit(root_url)
    if url_parts.scheme != "s3a":
        return None

    def read_s3_setting(name: str) -> str | None:
        return read_setting(f"fs.s3a.bucket.{url_parts.netloc}.{name}") or read_setting(f"fs.s3a.{name}")

    options = {
        option: value for name, option in _OPTIONS_BY_SETTING.items() if (value := read_s3_setting(name))
    }
    is_plain_text = read_s3_setting("connection.ssl.enabled") == "false"
    if "aws_endpoint" in options and "://" not in options["aws_endpoint"]:
        options["aws_endpoint"] = f"{'http' if is_plain_text else 'https'}://{options['aws_endpoint']}"
    options["aws_allow_http"] = str(options.get("aws_endpoint", "").startswith("http:")).lower()
    has_path_style = read_s3_setting("path.style.access") == "true"
    options["aws_virtual_hosted_style_request"] = str(not has_path_style).lower()
    return options
