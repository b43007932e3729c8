"""Two pages for whoever looks after the app: /healthz says whether it can run, /metrics what it has done.

Neither holds anything of a visitor's.
"""

from __future__ import annotations

import os
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from specviz.i18n import t
from specviz.ui.runner import Runner


def routes(runner: Runner) -> list[Route]:
    """Both, for the server's list of routes."""

    async def healthz(_request: Request) -> Response:
        status, answer = health(runner)
        return JSONResponse(answer, status, headers={"Cache-Control": "no-store"})

    async def metrics(_request: Request) -> Response:
        return PlainTextResponse(page(runner), media_type="text/plain; version=0.0.4")

    return [Route("/healthz", healthz), Route("/metrics", metrics)]


def health(runner: Runner) -> tuple[int, dict[str, object]]:
    """(200, ready), or 503 and the reason: the models are being loaded, or could not be."""
    loaders = runner.loaders()
    if any(loader.pair is not None for loader in loaders):
        return 200, {"status": "ready", "jobs": runner.lane.size}
    loader = next((one for one in loaders if one.busy), runner.loader())
    if loader.error is not None:
        return 503, {"status": "error", "reason": str(loader.error)}
    now = loader.loading
    return 503, {"status": "loading", "reason": t("en", now.key, **now.values), "progress": round(now.fraction, 2)}


def page(runner: Runner) -> str:
    """Prometheus text."""
    counts, ready = runner.lane.counts, health(runner)[0] == 200
    rows = [
        ("specviz_ready", "gauge", "Whether the models are loaded.", {"": int(ready)}),
        ("specviz_jobs", "gauge", "Runs, steps, races and checks that wait or run now.", {"": runner.lane.size}),
        ("specviz_jobs_total", "counter", "Runs, steps, races and checks that have ended.", {"": counts.jobs}),
        ("specviz_rounds_total", "counter", "Rounds that were run.", {"": counts.rounds}),
        ("specviz_tokens_total", "counter", "Tokens that these rounds wrote.", {"": counts.tokens}),
        (
            "specviz_errors_total",
            "counter",
            "Jobs refused with a sentence, failed unforeseen, or not taken because all places were.",
            {f'{{kind="{kind}"}}': getattr(counts, kind) for kind in ("refused", "failed", "full")},
        ),
    ]
    memory = resident_bytes()
    if memory is not None:
        rows.append(("process_resident_memory_bytes", "gauge", "Memory of this process.", {"": memory}))
    lines = []
    for name, kind, told, samples in rows:
        lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{labels} {value}" for labels, value in samples.items()]
    return "\n".join(lines) + "\n"


def resident_bytes() -> int | None:
    """What the process holds in memory; None where the system does not say (it is Linux that does)."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
