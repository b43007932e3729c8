"""The page: header, language switch, tabs. `build` makes it, `launch` serves it."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import gradio as gr
from fastapi.exceptions import RequestValidationError
from starlette.middleware import Middleware

from specviz.i18n import LANGUAGES, t
from specviz.models import zero
from specviz.ui import assets, desk, health, learn_tab, proof_tab, race_tab, serve_tab, step_tab, tree_tab
from specviz.ui.bounded import TRACES, Bounded
from specviz.ui.closed import Closed
from specviz.ui.fields import LanguageField
from specviz.ui.headers import Headers, headers
from specviz.ui.labels import Labels
from specviz.ui.lane import PLACES
from specviz.ui.options import DRAWING, Options, on_space
from specviz.ui.page import Page
from specviz.ui.presence import Listening, Presence
from specviz.ui.runner import Runner
from specviz.ui.theme import theme
from specviz.ui.unreadable import unreadable

QUEUE = 64  # events that may wait for a thread; the lane says in words when it is full, long before
FORGET = (600, 3600)  # seconds: how often files that were sent in are looked at, and how old they may get
SESSIONS = 200  # whose traces are kept, half a megabyte and more each; the longest unused goes first
SPARE = 24  # threads for all that is no run


@dataclass(frozen=True, slots=True)
class App:
    """The page and what stands behind it."""

    demo: gr.Blocks
    runner: Runner
    labels: Labels

    def launch(self, **options: Any) -> Any:
        """Serves the page. The models begin to load once it answers."""
        if zero.ACTIVE:  # there models must be on the GPU before the page is served, and in this thread
            import_module("specviz.models.check")  # all that runs on it is known by then
            self.runner.loader().load_here()
        listening = Listening()
        self.runner.present = lambda session: listening.any_of(self._streams(session))
        started = self.demo.queue(max_size=QUEUE, default_concurrency_limit=None).launch(
            app_kwargs={
                "routes": health.routes(self.runner),
                "exception_handlers": {RequestValidationError: unreadable},
                "middleware": [
                    Middleware(Headers, headers=headers(on_space())),
                    Middleware(Bounded, limit=TRACES * self.runner.options.max_trace_bytes),
                    Middleware(Closed),
                    Middleware(Presence, listening=listening),
                ],
            },
            max_threads=PLACES + DRAWING + SPARE,
            theme=theme(),
            css_paths=assets.styles(),
            head=assets.head() + assets.script(self.labels.script()),
            footer_links=[],
            max_file_size=2 * self.runner.options.max_trace_bytes,  # above the limit in words, far above not at all
            state_session_capacity=SESSIONS,
            ssr_mode=False,
            show_error=False,  # what was not foreseen goes into the log
            run_history=False,  # Gradio would keep each run in the browser, for whoever sits there next
            enable_monitoring=False,
            quiet=True,
            prevent_thread_lock=True,
            **options,
        )
        self.runner.begin()
        return started

    def wait(self) -> None:
        """Until Ctrl+C or a request to end (SIGTERM). Then runs end after their round, and the server closes."""

        def end(_signal: int, _frame: object) -> None:
            raise KeyboardInterrupt

        signal.signal(signal.SIGTERM, end)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Ends what runs, then the server."""
        self.runner.close()
        self.demo.close(verbose=False)

    def _streams(self, session: str) -> tuple[str, ...]:
        """What a visitor may listen to: the session, as the browser does, or each event, as the API's clients do."""
        events = self.demo._queue.pending_event_ids_session.get(session, set()).copy()
        return session, *events


def build(options: Options, runner: Runner | None = None) -> App:
    """The page for these options. Needs neither torch nor a model."""
    runner = runner or Runner(options)
    labels = Labels()
    with gr.Blocks(title="specviz", analytics_enabled=False, fill_width=True, delete_cache=FORGET) as demo:
        with gr.Row(elem_classes="sv-top"):
            gr.HTML('<h1 class="sv-name">specviz</h1>', padding=False, scale=0, min_width=80)
            labels.add(gr.Markdown(elem_classes="sv-tagline"), value="ui.tagline")
            state = gr.HTML(padding=False, elem_id="sv-pair-state", scale=0)
            lang = LanguageField(
                [(name, code) for code, name in LANGUAGES.items()],
                value="en",
                label=" · ".join(t(code, "ui.language") for code in LANGUAGES),  # for whoever cannot see it
                show_label=False,
                container=False,
                scale=0,
                min_width=190,
                elem_id="sv-lang",
            )
        page = Page(demo, runner, labels, lang, state)
        shared = desk.build(page)
        panels = step_tab.build(page, shared)
        tree_tab.build(page, shared, panels)
        race_tab.build(page, shared)
        proof_tab.build(page, shared)
        learn_tab.build(page, shared)
        serve_tab.build(page, shared)
        lang.change(None, [lang], labels.components, js="(lang) => SpecvizApp.relabel(lang)")
        spoken = demo.load(None, None, [lang], js="() => SpecvizApp.language()")
        spoken.then(None, None, None, js="() => SpecvizApp.tour()")
    return App(demo, runner, labels)
