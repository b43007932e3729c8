"""The page: header, language switch, tabs. `build` makes it, `launch` serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.i18n import LANGUAGES
from specviz.trace_json import MAX_BYTES
from specviz.ui import assets, desk, learn_tab, proof_tab, race_tab, serve_tab, step_tab, tree_tab
from specviz.ui.labels import Labels
from specviz.ui.options import Options
from specviz.ui.page import Page
from specviz.ui.runner import Runner
from specviz.ui.theme import theme

QUEUE = 64  # visitors that may wait; more are told that the app is full


@dataclass(frozen=True, slots=True)
class App:
    """The page and what stands behind it."""

    demo: gr.Blocks
    runner: Runner

    def launch(self, **options: Any) -> Any:
        """Serves the page. The models begin to load once it answers."""
        started = self.demo.queue(max_size=QUEUE, default_concurrency_limit=None).launch(
            theme=theme(),
            css_paths=assets.styles(),
            head=assets.head(),
            footer_links=[],
            max_file_size=2 * MAX_BYTES,  # larger ones never arrive; what is above MAX_BYTES is refused in words
            state_session_capacity=500,  # traces of visitors that are kept; the longest unused goes first
            ssr_mode=False,
            quiet=True,
            prevent_thread_lock=True,
            **options,
        )
        self.runner.begin()
        return started


def build(options: Options, runner: Runner | None = None) -> App:
    """The page for these options. Needs neither torch nor a model."""
    runner = runner or Runner(options)
    labels = Labels()
    with gr.Blocks(title="specviz", analytics_enabled=False, fill_width=True) as demo:
        with gr.Row(elem_classes="sv-top"):
            gr.HTML('<h1 class="sv-name">specviz</h1>', padding=False, scale=0, min_width=80)
            labels.add(gr.Markdown(elem_classes="sv-tagline"), value="ui.tagline")
            state = gr.HTML(padding=False, elem_id="sv-pair-state", scale=0)
            lang = gr.Radio(
                [(name, code) for code, name in LANGUAGES.items()],
                value="en",
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
        lang.change(None, [lang], labels.components, js=labels.script())
        spoken = demo.load(None, None, [lang], js="() => SpecvizApp.language()")
        spoken.then(None, None, None, js="() => SpecvizApp.tour()")
    return App(demo, runner)
