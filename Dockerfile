# The service as it runs in production, with the jobs that it starts as processes of their own: reading uploads, the night.
# A worker of a Spark cluster runs the same image, so that Python, packages and paths are the same everywhere.
#
# The base image is named by its tag, which its publisher moves. For repeatable builds, name a digest:
# --build-arg PYTHON_IMAGE=python@sha256:...; docs/operations/deployment.md says how to find it. Everything installed into
# it is pinned with hashes.
ARG PYTHON_IMAGE=python:3.13-slim
FROM ${PYTHON_IMAGE} AS build
WORKDIR /opt/cfplan
RUN python -m venv .venv
COPY requirements/build.txt requirements/web.txt requirements/spark.txt requirements/
RUN .venv/bin/python -m pip install --no-cache-dir --require-hashes --no-build-isolation -r requirements/build.txt
RUN .venv/bin/python -m pip install --no-cache-dir --require-hashes --no-build-isolation -r requirements/web.txt
# Spark and the Java that it runs on: most of the image.
RUN .venv/bin/python -m pip install --no-cache-dir --require-hashes --no-build-isolation -r requirements/spark.txt
COPY pyproject.toml LICENSE ./
COPY planner_core/ planner_core/
COPY app/ app/
COPY spark_jobs/ spark_jobs/
COPY migrations/ migrations/
COPY templates/ templates/
COPY static/ static/
COPY docs/ docs/
# Editable: the service reads templates, style sheets and documentation from beside its packages.
RUN .venv/bin/python -m pip install --no-cache-dir --no-deps --no-index --no-build-isolation --editable .
# pip compiles what it installs, but not an editable package. Without this, every process of the container would compile
# it again: the user may not write here. Nothing changes these files, so that no process has to check their times.
RUN .venv/bin/python -m compileall -q --invalidation-mode unchecked-hash app planner_core spark_jobs migrations

FROM ${PYTHON_IMAGE}
# The user's number is fixed, so that a volume keeps its owner from one image to the next.
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin cfplan \
 && install --directory --owner cfplan --group cfplan /var/lib/cfplan
COPY --from=build /opt/cfplan /opt/cfplan
WORKDIR /opt/cfplan
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    CFPLAN_DATA_DIR=/var/lib/cfplan \
    CFPLAN_HOST=0.0.0.0 \
    CFPLAN_AUTHENTICATION=accounts \
    CFPLAN_PORT=8000
USER cfplan
VOLUME /var/lib/cfplan
EXPOSE 8000
# 0.0.0.0 is every address of the container, not of the machine: what is reachable from outside is decided where the
# port is published.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD [".venv/bin/python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['CFPLAN_PORT']), timeout=4); c.request('GET', '/healthz'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["/opt/cfplan/.venv/bin/cfplan"]
CMD ["serve"]
