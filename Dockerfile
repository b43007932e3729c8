# The app in a container, as a user without rights: on a CPU, or with --build-arg DEVICE=cuda on NVIDIA GPUs.
FROM python:3.11.14-slim-bookworm
ARG DEVICE=cpu

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 \
    GRADIO_ANALYTICS_ENABLED=False SPECVIZ_CACHE=/cache

RUN useradd --uid 1000 --create-home specviz && install -d -o specviz -g specviz /cache /app
WORKDIR /app

COPY requirements.txt requirements-cpu.lock ./
# PyPI's torch brings CUDA along; the one for CPUs is a tenth of the size, and comes from PyTorch's own index.
RUN if [ "$DEVICE" = cuda ]; then pip install -r requirements.txt; else pip install --require-hashes \
    --extra-index-url https://download.pytorch.org/whl/cpu -r requirements-cpu.lock; fi

COPY --chown=specviz:specviz . .
USER specviz
VOLUME /cache
EXPOSE 7860
# Until the models are loaded it is "starting": they are fetched on the first start (93 MB), then kept in /cache.
HEALTHCHECK --interval=15s --timeout=5s --start-period=300s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
CMD ["python", "app.py", "--host", "0.0.0.0", "--port", "7860"]
