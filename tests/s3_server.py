"""An S3 server for tests: moto's, on a free port of this machine, with a bucket."""

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import boto3
from moto.server import ThreadedMotoServer

BUCKET = "bucket"
KEYS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests-secret", "AWS_REGION": "us-east-1"}


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Start a server. Yield the environment variables of its clients."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server.start()
    try:
        environment = {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        bucket_client(environment).create_bucket(Bucket=BUCKET)
        yield environment
    finally:
        server.stop()


def bucket_client(environment):
    """Return a client of the server that shares no code with memflow."""
    return boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment["AWS_REGION"],
    )
