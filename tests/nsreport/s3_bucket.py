"""A bucket of moto's S3 server on loopback, which counts the requests that write to it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import boto3
from werkzeug.serving import make_server

moto_server: Any = import_module("moto.server")
BUCKET = "bucket"
HADOOP_AWS = "org.apache.hadoop:hadoop-aws:3.5.0"
_REGION, _KEY = "us-east-1", "testing"


class S3Bucket:
    """A running bucket."""

    def __init__(self, endpoint: str, write_counter: "WriteCounter") -> None:
        self.hadoop_settings = {
            "fs.s3a.endpoint": endpoint,
            "fs.s3a.endpoint.region": _REGION,
            "fs.s3a.path.style.access": "true",
            "fs.s3a.access.key": _KEY,
            "fs.s3a.secret.key": _KEY,
        }
        self.spark_settings = {
            "spark.jars.packages": HADOOP_AWS,
            **{f"spark.hadoop.{name}": value for name, value in self.hadoop_settings.items()},
        }
        self._write_counter = write_counter
        self._client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name=_REGION,
            aws_access_key_id=_KEY,
            aws_secret_access_key=_KEY,
        )
        self._client.create_bucket(Bucket=BUCKET)

    def call_after_writes(self, write_count: int | None, action: Callable[[], None] | None = None) -> None:
        """Call a function once after this number of further requests that write; None: never."""
        self._write_counter.arm(write_count, action)

    def list_keys(self, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [entry["Key"] for page in pages for entry in page.get("Contents", ())]

    def list_tables(self, prefix: str) -> list[str]:
        """Return the names of all tables below a prefix, such as gold/drain_audit."""
        return sorted(
            {
                key.removeprefix(f"{prefix}/").partition("/_delta_log/")[0]
                for key in self.list_keys(f"{prefix}/")
                if "/_delta_log/" in key
            }
        )

    def download(self, prefix: str, folder: Path) -> None:
        """Copy all objects below a prefix to a folder."""
        for key in self.list_keys(f"{prefix}/"):
            if not key.endswith("/"):
                target = folder / key.removeprefix(f"{prefix}/")
                target.parent.mkdir(parents=True, exist_ok=True)
                self._client.download_file(BUCKET, key, str(target))


class WriteCounter:
    """Passes requests on, one at a time for those that write, and counts these."""

    def __init__(self, application: Callable[..., Any]) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._remaining: int | None = None
        self._action: Callable[[], None] | None = None

    def arm(self, write_count: int | None, action: Callable[[], None] | None) -> None:
        with self._lock:
            self._remaining, self._action = write_count, action

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        if environ["REQUEST_METHOD"] not in ("PUT", "POST", "DELETE"):
            return self._application(environ, start_response)
        # moto checks If-None-Match and stores the object in two steps, so requests take turns here.
        with self._lock:
            response = self._application(environ, start_response)
            if self._remaining is not None:
                self._remaining -= 1
                if self._remaining == 0 and self._action is not None:
                    self._action()
            return response


@contextmanager
def serve_bucket() -> Iterator[S3Bucket]:
    """Run a server with an empty bucket."""
    counter = WriteCounter(moto_server.DomainDispatcherApplication(moto_server.create_backend_app))
    server = make_server("127.0.0.1", 0, counter, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield S3Bucket(f"http://127.0.0.1:{server.server_port}", counter)
    finally:
        server.shutdown()
        thread.join()
