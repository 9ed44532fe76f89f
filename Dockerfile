FROM python:3.12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/latecomer && /opt/latecomer/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY knowledge knowledge
COPY traces traces
COPY rules rules
COPY service service
COPY cli cli
RUN /opt/latecomer/bin/pip install --no-cache-dir --no-deps .

FROM python:3.12-slim
COPY --from=build /opt/latecomer /opt/latecomer
RUN useradd --create-home latecomer
USER latecomer
ENV PATH=/opt/latecomer/bin:$PATH
EXPOSE 8421
CMD ["latecomer", "serve", "--host", "0.0.0.0", "--workers", "2"]
