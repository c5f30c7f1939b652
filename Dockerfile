# The image of the code server, the web server and the daemon. The model server has its own image.
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    DAGSTER_HOME=/opt/dagster \
    MEMFLOW_HOME=/var/lib/memflow

WORKDIR /opt/memflow

# Runtime dependencies first: they change less often than the code. For Kubernetes and Ray, build with
# `--build-arg REQUIREMENTS=requirements-cluster.lock`.
ARG REQUIREMENTS=requirements.lock
COPY $REQUIREMENTS requirements.lock
RUN pip install --require-hashes -r requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY memflow memflow
COPY resources resources
COPY assets assets
COPY sql sql
# `dagster-webserver` is the server with the check of requests, also where a chart writes the command
# (docs/how-to/deploy.md#protect-the-ui).
RUN pip install --no-deps . \
    && printf '#!/bin/sh\nexec python -m memflow.resources.runs.webserver "$@"\n' > "$(command -v dagster-webserver)"

RUN useradd --system --uid 1000 --home-dir /opt/memflow memflow \
    && mkdir -p "$DAGSTER_HOME/storage" "$MEMFLOW_HOME" \
    && chown -R memflow "$DAGSTER_HOME" "$MEMFLOW_HOME"
COPY resources/instance/deployment.yaml $DAGSTER_HOME/dagster.yaml
USER memflow

EXPOSE 4000
CMD ["dagster", "code-server", "start", "--host", "0.0.0.0", "--port", "4000", "--module-name", "memflow.assets.definitions"]
