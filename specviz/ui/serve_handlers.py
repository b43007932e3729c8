"""What the Serve tab shows, and what its buttons do. No layout: that is in `serve_tab.py`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz.config import check_choice
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.models.local import local_folder
from specviz.models.presets import CUSTOM
from specviz.models.served import served_of
from specviz.serving.carry_over import Served, export
from specviz.serving.client import Server
from specviz.serving.compare import Measured, measuring, own
from specviz.serving.known import SERVED
from specviz.serving.note import Note
from specviz.serving.translate import translate
from specviz.serving.versions import read_version
from specviz.trace import Trace
from specviz.ui import serve_html, settings
from specviz.ui.discretion import discretion, told, unlocated
from specviz.ui.job import LOOK_EVERY, Job, Work
from specviz.ui.message import problem
from specviz.ui.options import Options
from specviz.ui.runner import Runner
from specviz.ui.step_handlers import buttons

PLACE = "vllm"  # of the job that asks a server
PAGE = "page"  # among the models to serve: those of this page


def written(
    runner: Runner, lang: str, version: Any, models: Any, gpus: Any, values: Sequence[Any]
) -> tuple[str, str, str, str]:
    """HTML of: the Python program, the server's command, the JSON, the notes. Never raises."""
    try:
        wanted = settings.read(values)
        runner.options.check(wanted.prompt, wanted.config)
        done = export(wanted.config, _served(runner, wanted.pair, models, gpus), read_version(version))
        parts = (done.python(wanted.prompt), done.command, done.json)
        return *(serve_html.code(part) for part in parts), serve_html.notes(done.notes, lang)
    except Exception as error:
        return "", "", "", problem(error, lang)


def gpus_of(models: Any) -> int:
    """How many GPUs a choice of models is for; 1 for what is none."""
    return SERVED[models].tensor_parallel if isinstance(models, str) and models in SERVED else 1


def _served(runner: Runner, pair: str, models: Any, gpus: Any) -> Served:
    if check_choice("models", models, (PAGE, *SERVED)) != PAGE:
        return Served(SERVED[models].target, SERVED[models].draft, tensor_parallel=gpus)
    check_choice("pair", pair, runner.pairs())
    o = runner.options
    heads = o.heads if pair == runner.default else None
    if pair == CUSTOM:
        found = served_of(None, o.target, o.draft, heads, gpus)
    else:
        found = served_of(pair, heads=heads, gpus=gpus, folders=not o.public)
    return _unlocated(found) if o.public else found


def _unlocated(found: Served) -> Served:
    """The same without the paths of this machine, which are nobody else's business."""
    names = (found.target, found.draft, found.heads)
    folders = ((name and local_folder(name), name) for name in names)
    target, draft, heads = (folder.resolve().name if folder else name for folder, name in folders)
    return replace(found, target=target or found.target, draft=draft, heads=heads)


def translated(text: Any, version: Any, lang: str) -> tuple[str, str]:
    """HTML of: today's code, what changed. Never raises."""
    try:
        done = translate(text, read_version(version))
        told = serve_html.changes(done.changes, lang) + serve_html.notes(done.notes, lang)
        return serve_html.code(done.code), told
    except Exception as error:
        return "", problem(error, lang)


def compare(runner: Runner, trace: Trace | None, session: str, lang: str) -> Iterator[tuple[str, Any, Any]]:
    """Updates of: the table, the button that asks, the one that stops. Never raises."""
    options, same, job = runner.options, (gr.skip(), gr.skip()), None
    yield serve_html.waiting(t(lang, "serve.compare_running")), *buttons(True, 1)
    try:
        if options.vllm_url is None:
            raise SpecvizError("serve.compare_none")
        if trace is None or not trace.rounds:
            raise SpecvizError("serve.compare_nothing")
        options.check(trace.prompt.text, trace.config)
        job = runner.ask(session, _asking(options, trace), PLACE)
        for news in job.watch():
            if job.stopped:  # the server may keep the job waiting for another while
                break
            if isinstance(news, str):
                yield serve_html.waiting(t(lang, "serve.compare_running"), news), *same
            elif news is None and (n := runner.place(job)):
                yield serve_html.waiting(t(lang, "serve.compare_queued", n=n)), *same
        if job.dropped:  # a newer comparison of this session has the table and the buttons now
            return
        if job.error is not None and not job.stopped:  # a stopped one ends in the error of a line that was cut
            raise job.error
        if isinstance(job.news, Measured):
            table = serve_html.comparison(trace, own(trace), job.news, lang)
        else:
            table = serve_html.waiting(t(lang, "serve.compare_stopped"))
    except Exception as error:
        table = problem(_without_address(error, options), lang)
    finally:
        if job is not None:
            job.drop()
    yield table, *buttons(False, 1)


def _asking(options: Options, trace: Trace) -> Work:
    """Posts the server's text as it comes, a few times a second, and then what was measured."""

    def work(job: Job) -> Iterator[int]:
        text, posted = "", time.monotonic()
        server = Server(options.vllm_url, unwanted=lambda: job.stopped)
        asked = measuring(server, trace.prompt.text, trace.config, beside=trace)
        with discretion(options.public), closing(asked):
            while not job.stopped:
                try:
                    text += next(asked)
                except StopIteration as end:
                    job.post(_named_only(end.value) if options.public else end.value)
                    return
                if time.monotonic() - posted >= LOOK_EVERY:
                    job.post(text)
                    posted = time.monotonic()
                yield 0

    return work


def _named_only(found: Measured) -> Measured:
    """The same without the paths of the server's machine, or an address that its model goes by."""
    model = unlocated(found.model)
    model = "…" if ":" in model else model
    notes = (Note(n.key, told(n.values) | ({"served": model} if "served" in n.values else {})) for n in found.notes)
    return replace(found, model=model, notes=tuple(notes))


def _without_address(error: Exception, options: Options) -> Exception:
    """Where the operator's server is, and what it says of itself, is nothing for strangers."""
    hidden = {"serve.down": "serve.away", "serve.refused": "serve.refused_away"}
    if options.public and isinstance(error, SpecvizError) and error.key in hidden:
        return SpecvizError(hidden[error.key])
    return error
