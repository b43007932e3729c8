"""The Step tab: prompt and settings, the stage, and the panels under it. Layout and wiring; see `step_handlers.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from specviz.config import METHODS
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES, t
from specviz.trace import Trace
from specviz.ui import detail_panel, files_panel, samples, settings, step_handlers, whatif_panel
from specviz.ui.fields import ChoiceField, TextField, number
from specviz.ui.message import failure, message, whole
from specviz.ui.options import WAITING
from specviz.ui.page import Page
from specviz.ui.stage import Stage
from specviz.views.tokens import visible

EXAMPLES = ("sky", "count", "story", "quantum")
DEFAULTS = ("Why is the sky blue?", "skip", 5, 0.8, "123", 0, 1.0, 0.0, 64, "", True)
OWN = ""  # in the list of recorded runs: none of them


def build(page: Page) -> None:
    """Adds the tab to the page that is being built."""
    labels, runner, lang = page.labels, page.runner, page.lang
    names = samples.names()
    first = samples.sample(names[0]) if names else None
    start = step_handlers.show(first, runner)[2:] if first else (*DEFAULTS, runner.default)
    values = dict(zip(settings.FIELDS, start, strict=True))

    with gr.Row(elem_classes="sv-prompt"):
        prompt = labels.add(
            TextField(values["prompt"], lines=1, max_lines=5, scale=8, container=False, elem_id="sv-prompt"),
            label="ui.prompt",
            placeholder="ui.prompt_hint",
        )
        run = labels.add(gr.Button(variant="primary", elem_id="sv-run", min_width=84, scale=0), value="ui.run")
        step = labels.add(gr.Button(elem_id="sv-step", min_width=124, scale=0), value="ui.step")
        stop = labels.add(gr.Button(elem_id="sv-stop", min_width=76, scale=0, interactive=False), value="ui.stop")
    with gr.Row(elem_classes="sv-examples"):
        with gr.Row(elem_classes="sv-chips"):
            chips = [labels.add(gr.Button(size="sm", min_width=40, scale=0), value=f"ui.example_{e}") for e in EXAMPLES]
        sample = labels.add(
            ChoiceField([*names, OWN], value=names[0] if names else OWN, elem_id="sv-sample", min_width=200, scale=0),
            label="ui.sample",
            choices=[
                *(({lang: sample_label(samples.sample(n), lang) for lang in LANGUAGES}, n) for n in names),
                ("ui.sample_own", OWN),
            ],
        )
        more = labels.add(gr.Button(size="sm", scale=0, elem_id="sv-more-button", min_width=90), value="ui.more")
    with gr.Row(elem_classes="sv-settings sv-more", elem_id="sv-more"):
        method = labels.add(
            ChoiceField(list(METHODS), value=values["method"], elem_id="sv-method", min_width=120),
            label="ui.method",
            choices=[(f"ui.method_{m}", m) for m in METHODS],
        )
        k = labels.add(number(values["k"], 0, 32, 1, elem_id="sv-k", min_width=80), label="ui.k")
        temperature = labels.add(
            number(values["temperature"], 0, 100, 0.1, elem_id="sv-temperature", min_width=80), label="ui.temperature"
        )
        seed = labels.add(TextField(values["seed"], elem_id="sv-seed", min_width=80), label="ui.seed")
        top_k = labels.add(number(values["top_k"], 0, 10**6, 1, min_width=80), label="ui.top_k")
        top_p = labels.add(number(values["top_p"], 0, 1, 0.05, min_width=80), label="ui.top_p")
        min_p = labels.add(number(values["min_p"], 0, 1, 0.01, min_width=80), label="ui.min_p")
        most = labels.add(
            number(values["max_new_tokens"], 0, 10**5, 1, min_width=100, elem_id="sv-most"), label="ui.max_new_tokens"
        )
        stops = labels.add(TextField(values["stop"], lines=1, max_lines=4, min_width=140), label="ui.stop_strings")
        chat = labels.add(gr.Checkbox(values["chat"], min_width=150), label="ui.chat")
        pair = labels.add(
            ChoiceField(list(runner.pairs()), value=values["pair"], min_width=140, elem_id="sv-pair"), label="ui.pair"
        )
    notes = gr.HTML(padding=False, elem_classes="sv-notes")

    stage = Stage(whole(first), name="main")
    trace = gr.State(first)
    controls = [prompt, method, k, temperature, seed, top_k, top_p, min_p, most, stops, chat, pair]
    actions = [run, step, stop]
    opened = files_panel.build(page, stage, trace, controls)
    selected, details = detail_panel.build(page, stage, trace)
    _, fork_parts = whatif_panel.build(page, stage, trace, actions)

    def empty_panels() -> tuple:
        return None, *detail_panel.figures(None, None, "en"), *whatif_panel.emptied()

    side = [selected, *details, *fork_parts]
    outputs = [stage, trace, *actions]
    quiet: dict[str, Any] = {"show_progress": "hidden"}
    lane: dict[str, Any] = {**quiet, "concurrency_id": "lane", "concurrency_limit": WAITING}
    private: dict[str, Any] = {**quiet, "queue": False, "api_visibility": "private"}

    # Each parameter by its name, because this is what the API's documentation shows.
    def on_run(
        request: gr.Request, shown: Trace | None, prompt: Any, method: Any, k: Any, temperature: Any,
        seed: Any, top_k: Any, top_p: Any, min_p: Any, max_new_tokens: Any, stop: Any, chat: Any, pair: Any,
    ):  # fmt: skip
        """Runs the prompt to its end."""
        values = (prompt, method, k, temperature, seed, top_k, top_p, min_p, max_new_tokens, stop, chat, pair)
        yield from step_handlers.run(runner, values, shown, request.session_hash or "")

    def on_step(
        request: gr.Request, shown: Trace | None, prompt: Any, method: Any, k: Any, temperature: Any,
        seed: Any, top_k: Any, top_p: Any, min_p: Any, max_new_tokens: Any, stop: Any, chat: Any, pair: Any,
    ):  # fmt: skip
        """Runs one more round, or the first one where the settings have changed."""
        values = (prompt, method, k, temperature, seed, top_k, top_p, min_p, max_new_tokens, stop, chat, pair)
        yield from step_handlers.run(runner, values, shown, request.session_hash or "", one_round=True)

    def on_stop(request: gr.Request) -> Any:
        runner.stop(request.session_hash or "")
        return gr.update(interactive=False)

    inputs = [trace, *controls]
    gr.on([run.click, prompt.submit], on_run, inputs, outputs, api_name="run", **lane)
    step.click(on_step, inputs, outputs, api_name="step", **lane)
    stop.click(on_stop, None, [stop], queue=False, api_name="stop", **quiet)
    opened.then(empty_panels, None, side, **private)
    sample.input(empty_panels, None, side, **private)
    opened.then(lambda: OWN, None, [sample], **private)

    # another trace comes: what belonged to the last one goes, and the stage shows no recorded run any more
    def on_new(*values: Any) -> tuple:
        return (OWN, *empty_panels()) if readable(values) else (gr.skip(),) * (1 + len(side))

    def on_new_by_step(shown: Trace | None, *values: Any) -> tuple:
        new = readable(values) and not (shown and step_handlers.continues(shown, settings.read(values)))
        return (OWN, *empty_panels()) if new else (gr.skip(),) * (1 + len(side))

    gr.on([run.click, prompt.submit], on_new, controls, [sample, *side], **private)
    step.click(on_new_by_step, [trace, *controls], [sample, *side], **private)

    def on_leave(request: gr.Request) -> None:
        runner.stop(request.session_hash or "")

    page.demo.unload(on_leave)

    def on_sample(name: Any, request: gr.Request) -> tuple:
        runner.drop(request.session_hash or "")
        return step_handlers.choose(name, runner) if name != OWN else (gr.skip(),) * (2 + len(controls))

    sample.input(on_sample, [sample], [stage, trace, *controls], queue=False, api_name="bundled_run", **quiet)
    stage.resync(step_handlers.resync, [trace], [stage], **private)
    more.click(None, None, None, js="() => SpecvizApp.unfold('sv-more', 'sv-more-button')")
    for chip, example in zip(chips, EXAMPLES, strict=True):
        chip.click(None, None, [prompt], js=f"() => SpecvizApp.example('{example}')")
    note = "(...values) => SpecvizApp.notes(...values)"
    gr.on([prompt.change, pair.change, lang.change], None, [prompt, pair], [notes], js=note)
    _watch_loading(page, pair, page.state, private)
    _open_link(page, [stage, trace, sample], controls, private)


def readable(values: Sequence[Any]) -> bool:
    """Whether these settings can be run; the run itself says what is wrong with them."""
    try:
        settings.read(values)
    except SpecvizError:
        return False
    return True


def _watch_loading(page: Page, pair: gr.Dropdown, line: gr.HTML, private: dict) -> None:
    """The line that says which models there are, or how far their loading is."""
    runner, lang = page.runner, page.lang
    timer = gr.Timer(1.0)

    def look(pair: Any, lang: str) -> tuple:
        html, ready = step_handlers.pair_state(runner, pair, lang)
        return html, gr.Timer(active=not ready)

    gr.on([timer.tick, page.demo.load, lang.change, pair.change], look, [pair, lang], [line, timer], **private)


def _open_link(page: Page, shown: list, controls: list, private: dict) -> None:
    """Settings in the address of the page: they fill in the controls, and the stage waits for Run."""
    defaults = [c.value for c in controls]

    def on_load(request: gr.Request) -> tuple:
        query = dict(request.query_params)
        try:
            base = settings.read(defaults)
            read = settings.from_link(query, base)
            page.runner.loader(read.pair)
            stays = [gr.skip()] * len(shown) if read == base else [whole(None), None, OWN]
            return *stays, *(gr.skip() if a == b else a for a, b in zip(read.values(), base.values(), strict=True))
        except Exception as error:
            return message(status=failure(error)), *[gr.skip()] * (len(shown) - 1 + len(controls))

    page.demo.load(on_load, None, [*shown, *controls], **private)


def sample_label(trace: Trace, lang: str) -> str:
    """A bundled run in one line."""
    c = trace.config
    method = t(lang, f"ui.method_{c.method}")
    text = visible(trace.prompt.text, keep_spaces=True)
    short = text if len(text) <= 44 else text[:43] + "…"
    return t(lang, "ui.sample_label", prompt=short, method=method, k=c.k, temperature=f"{c.temperature:g}")
