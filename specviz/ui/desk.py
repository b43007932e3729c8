"""What the Step and the Tree tab share: prompt and settings, the stage, and the trace of the moment. Layout only.

There is one stage for both tabs, so that trace, cursor and selection are the same in either. It stands outside of them,
and which parts around it are on show is decided in the browser: classes `sv-on-step` and `sv-on-tree` name the tab that
a part belongs to, `sv-extra` what the Tree tab shows only when the settings are unfolded, `sv-if-...` what only some
settings make sense of (see assets/css/app-tree.css).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.config import METHODS, SIBLINGS, VERIFIERS, RunConfig
from specviz.i18n import LANGUAGES, t
from specviz.models import tree_presets
from specviz.trace import Trace
from specviz.ui import samples, settings, step_handlers
from specviz.ui.fields import ChoiceField, TextField, number
from specviz.ui.message import whole
from specviz.ui.page import Page
from specviz.ui.stage import Stage
from specviz.ui.tree_edit import OWN, name_of
from specviz.views.tokens import visible

EXAMPLES = ("sky", "count", "story", "quantum")
TABS = ("step", "tree")
DEFAULTS = "Why is the sky blue?", RunConfig("skip", k=5, temperature=0.8, seed=123)  # without a recorded run
NO_SAMPLE = ""  # in the list of recorded runs: none of them


@dataclass(frozen=True, slots=True)
class Desk:
    """The components. `fields` are those of `settings.FIELDS`, by name and in that order."""

    strip: gr.Tabs
    tabs: dict[str, gr.Tab]
    fields: dict[str, Any]
    run: gr.Button
    step: gr.Button
    stop: gr.Button
    sample: gr.Dropdown
    chips: list[gr.Button]
    shape: gr.Dropdown  # the tree by its name
    budget: gr.Number  # or by its size
    add: gr.Button
    remove: gr.Button
    told: gr.HTML  # the tree in words
    notes: gr.HTML
    stage: Stage
    trace: gr.State

    @property
    def controls(self) -> list:
        """The inputs of a run."""
        return list(self.fields.values())

    @property
    def actions(self) -> list[gr.Button]:
        """Run, Step, Stop."""
        return [self.run, self.step, self.stop]


def build(page: Page) -> Desk:
    """Adds the shared part to the page that is being built."""
    labels, runner = page.labels, page.runner
    names = samples.names()
    first = samples.sample(names[0]) if names else None
    start = step_handlers.show(first, runner)[2:] if first else settings.Settings(*DEFAULTS, runner.default).values()
    values = dict(zip(settings.FIELDS, start, strict=True))

    with gr.Tabs(elem_id="sv-tabs", selected=TABS[0]) as strip:
        tabs = {name: labels.add(gr.Tab(id=name, elem_id=f"sv-tab-{name}"), label=f"ui.tab_{name}") for name in TABS}
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
            ChoiceField(
                [*names, NO_SAMPLE],
                value=names[0] if names else NO_SAMPLE,
                elem_id="sv-sample",
                min_width=200,
                scale=0,
            ),
            label="ui.sample",
            choices=[
                *(({lang: sample_label(samples.sample(n), lang) for lang in LANGUAGES}, n) for n in names),
                ("ui.sample_own", NO_SAMPLE),
            ],
        )
        more = labels.add(gr.Button(size="sm", scale=0, elem_id="sv-more-button", min_width=90), value="ui.more")
    more.click(None, None, None, js="() => SpecvizApp.unfold('sv-more', 'sv-more-button')")

    fields, shape, budget = _settings(page, values)
    tree, add, remove, told = _tree(page, values)
    given = {"prompt": prompt, **fields, "tree": tree}
    return Desk(
        strip=strip,
        tabs=tabs,
        fields={name: given[name] for name in settings.FIELDS},
        run=run,
        step=step,
        stop=stop,
        sample=sample,
        chips=chips,
        shape=shape,
        budget=budget,
        add=add,
        remove=remove,
        told=told,
        notes=gr.HTML(padding=False, elem_classes="sv-notes"),
        stage=Stage(whole(first), name="main"),
        trace=gr.State(first),
    )


def _settings(page: Page, values: dict[str, Any]) -> tuple[dict[str, Any], gr.Dropdown, gr.Number]:
    """The grid of settings, without prompt and tree: (fields by name, the tree's name, the tree's size)."""
    labels, runner = page.labels, page.runner
    fields: dict[str, Any] = {}

    def choice(name: str, options: tuple[str, ...], width: int, kinds: str = "") -> None:
        fields[name] = labels.add(
            ChoiceField(list(options), value=values[name], elem_id=f"sv-{name}", elem_classes=kinds, min_width=width),
            label=f"ui.{name}",
            choices=[(f"ui.{name}_{option}", option) for option in options],
        )

    def amount(name: str, low: float, high: float, step: float, kinds: str = "", id: str | None = None) -> None:
        field = number(values[name], low, high, step, min_width=80, elem_id=id or f"sv-{name}", elem_classes=kinds)
        fields[name] = labels.add(field, label=f"ui.{name}")

    with gr.Row(elem_classes="sv-settings sv-more", elem_id="sv-more"):
        choice("method", METHODS, 120)
        trees = tree_presets.presets()
        shape = labels.add(
            ChoiceField(
                [*trees, OWN],
                value=name_of(values["tree"]),
                elem_id="sv-shape",
                elem_classes="sv-if-shape sv-wide",
                min_width=120,
            ),
            label="ui.shape",
            choices=[*((_tree_label(name, len(tree)), name) for name, tree in trees.items()), ("ui.shape_own", OWN)],
        )
        known = tree_presets.accuracy() is not None
        budget = number(16, 1, 256, 1, min_width=80, elem_id="sv-budget", elem_classes="sv-on-tree sv-if-shape")
        budget.visible = known
        labels.add(budget, label="ui.budget")
        amount("k", 0, 32, 1, "sv-if-k")
        choice("siblings", SIBLINGS, 120, "sv-on-tree sv-if-siblings sv-wide")
        amount("nodes", 0, 256, 1, "sv-if-eagle")
        amount("branch", 1, 64, 1, "sv-if-eagle")
        choice("verify", VERIFIERS, 120, "sv-wide")
        amount("eps", 0, 1, 0.01, "sv-if-typical")
        amount("delta", 0, 1, 0.05, "sv-if-typical")
        amount("temperature", 0, 100, 0.1)
        fields["seed"] = labels.add(TextField(values["seed"], elem_id="sv-seed", min_width=80), label="ui.seed")
        amount("max_new_tokens", 0, 10**5, 1, id="sv-most")
        amount("top_k", 0, 10**6, 1, "sv-extra")
        amount("top_p", 0, 1, 0.05, "sv-extra")
        amount("min_p", 0, 1, 0.01, "sv-extra")
        fields["stop"] = labels.add(
            TextField(values["stop"], lines=1, max_lines=4, min_width=140, elem_classes="sv-extra"),
            label="ui.stop_strings",
        )
        fields["pair"] = labels.add(
            ChoiceField(
                list(runner.pairs()), value=values["pair"], min_width=140, elem_id="sv-pair", elem_classes="sv-extra"
            ),
            label="ui.pair",
        )
        fields["chat"] = labels.add(
            gr.Checkbox(values["chat"], min_width=150, elem_classes="sv-extra"), label="ui.chat"
        )
    return fields, shape, budget


def _tree(page: Page, values: dict[str, Any]) -> tuple[gr.Textbox, gr.Button, gr.Button, gr.HTML]:
    """The line where the tree is edited: (its choices as text, add, remove, the tree in words)."""
    labels = page.labels
    with gr.Row(elem_classes="sv-settings sv-edit sv-on-tree sv-if-shape"):
        tree = labels.add(
            TextField(values["tree"], lines=1, max_lines=4, scale=6, min_width=220, elem_id="sv-tree"),
            label="ui.tree",
            placeholder="ui.tree_hint",
        )
        add = labels.add(gr.Button(size="sm", elem_id="sv-branch-add", scale=0), value="ui.branch_add")
        remove = labels.add(gr.Button(size="sm", elem_id="sv-branch-remove", scale=0), value="ui.branch_remove")
    told = gr.HTML(padding=False, elem_classes="sv-note sv-on-tree", elem_id="sv-tree-told")
    return tree, add, remove, told


def _tree_label(name: str, nodes: int) -> str | dict[str, str]:
    """A preset by its own words, or by those of its kind."""
    kind = "best" if name.startswith("best-") else name.replace("-", "_")
    return {lang: t(lang, f"ui.shape_{kind}", n=nodes) for lang in LANGUAGES}


def sample_label(trace: Trace, lang: str) -> str:
    """A bundled run in one line."""
    c = trace.config
    method = t(lang, f"ui.method_{c.method}")
    text = visible(trace.prompt.text, keep_spaces=True)
    short = text if len(text) <= 44 else text[:43] + "…"
    key = "ui.sample_label_tree" if c.is_tree else "ui.sample_label"
    nodes = len(c.tree) or c.nodes
    return t(lang, key, prompt=short, method=method, k=c.k, nodes=nodes, temperature=f"{c.temperature:g}")
