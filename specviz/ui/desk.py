"""What the Step and the Tree tab share: prompt and settings, the stage, and the trace of the moment. Layout only.

There is one stage for both tabs, so that trace, cursor and selection are the same in either. It stands outside of them,
and which parts around it are on show is decided in the browser: classes `sv-on-step` and `sv-on-tree` name the tab that
a part belongs to, `sv-if-...` what only some settings make sense of (see assets/css/app-tree.css). Settings and the
tree's editor are folded away until they are wanted, for what counts is the stage.
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
TABS = ("step", "tree", "race", "serve")
DEFAULTS = "Why is the sky blue?", RunConfig("skip", k=5, temperature=0.8, seed=123)  # without a recorded run
NO_SAMPLE = ""  # in the list of recorded runs: none of them


@dataclass(frozen=True, slots=True)
class Editor:
    """What says which tree is drafted, on a line of its own. `fields`: those of `settings.FIELDS` among it, by name."""

    fields: dict[str, Any]
    shape: gr.Dropdown  # the tree by its name
    budget: gr.Number  # or by its size
    add: gr.Button
    remove: gr.Button
    told: gr.HTML  # the tree in words


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
    editor: Editor
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
        edit = gr.Button(size="sm", scale=0, elem_id="sv-edit-button", elem_classes="sv-on-tree", min_width=90)
        labels.add(edit, value="ui.edit")
    more.click(None, None, None, js="() => SpecvizApp.unfold('sv-more')")
    edit.click(None, None, None, js="() => SpecvizApp.unfold('sv-edit')")

    given = {"prompt": prompt, **_settings(page, values)}
    editor = _editor(page, values)
    given |= editor.fields
    return Desk(
        strip=strip,
        tabs=tabs,
        fields={name: given[name] for name in settings.FIELDS},
        run=run,
        step=step,
        stop=stop,
        sample=sample,
        chips=chips,
        editor=editor,
        notes=gr.HTML(padding=False, elem_classes="sv-notes"),
        stage=Stage(whole(first), name="main"),
        trace=gr.State(first),
    )


def _settings(page: Page, values: dict[str, Any]) -> dict[str, Any]:
    """The grid of settings, by name; prompt and tree stand elsewhere."""
    labels, runner = page.labels, page.runner
    with gr.Row(elem_classes="sv-settings sv-more", elem_id="sv-more"):
        fields: dict[str, Any] = {
            "method": _choice(page, values, "method", METHODS),
            "k": _amount(page, values, "k", 0, 32, 1, "sv-if-k"),
            "verify": _choice(page, values, "verify", VERIFIERS, "sv-wide"),
            "eps": _amount(page, values, "eps", 0, 1, 0.01, "sv-if-typical"),
            "delta": _amount(page, values, "delta", 0, 1, 0.05, "sv-if-typical"),
            "temperature": _amount(page, values, "temperature", 0, 100, 0.1),
        }
        fields["seed"] = labels.add(TextField(values["seed"], elem_id="sv-seed", min_width=80), label="ui.seed")
        fields["max_new_tokens"] = _amount(page, values, "max_new_tokens", 0, 10**5, 1, id="sv-most")
        fields["top_k"] = _amount(page, values, "top_k", 0, 10**6, 1)
        fields["top_p"] = _amount(page, values, "top_p", 0, 1, 0.05)
        fields["min_p"] = _amount(page, values, "min_p", 0, 1, 0.01)
        fields["stop"] = labels.add(
            TextField(values["stop"], lines=1, max_lines=4, min_width=140), label="ui.stop_strings"
        )
        pairs = ChoiceField(list(runner.pairs()), value=values["pair"], min_width=140, elem_id="sv-pair")
        fields["pair"] = labels.add(pairs, label="ui.pair")
        fields["chat"] = labels.add(gr.Checkbox(values["chat"], min_width=150), label="ui.chat")
    return fields


def _editor(page: Page, values: dict[str, Any]) -> Editor:
    """The line where the tree is chosen and edited; below it the tree in words."""
    labels = page.labels
    with gr.Row(elem_classes="sv-settings sv-edit", elem_id="sv-edit"):
        trees = tree_presets.presets()
        kinds = "sv-if-shape sv-wide"
        shape = ChoiceField(
            [*trees, OWN], value=name_of(values["tree"]), elem_id="sv-shape", elem_classes=kinds, min_width=120
        )
        names = [(_tree_label(name, len(tree)), name) for name, tree in trees.items()]
        labels.add(shape, label="ui.shape", choices=[*names, ("ui.shape_own", OWN)])
        budget = number(16, 1, 256, 1, min_width=80, elem_id="sv-budget", elem_classes="sv-on-tree sv-if-shape")
        budget.visible = tree_presets.accuracy() is not None
        labels.add(budget, label="ui.budget")
        fields = {
            "siblings": _choice(page, values, "siblings", SIBLINGS, "sv-on-tree sv-if-siblings sv-wide"),
            "nodes": _amount(page, values, "nodes", 0, 256, 1, "sv-if-eagle"),
            "branch": _amount(page, values, "branch", 1, 64, 1, "sv-if-eagle"),
        }
        kinds = "sv-on-tree sv-if-shape sv-tree-text"
        text = TextField(values["tree"], lines=1, max_lines=1, min_width=200, elem_id="sv-tree", elem_classes=kinds)
        fields["tree"] = labels.add(text, label="ui.tree", placeholder="ui.tree_hint")
        add = gr.Button(size="sm", elem_id="sv-branch-add", elem_classes="sv-on-tree sv-if-shape", scale=0)
        remove = gr.Button(size="sm", elem_id="sv-branch-remove", elem_classes="sv-on-tree sv-if-shape", scale=0)
        labels.add(add, value="ui.branch_add")
        labels.add(remove, value="ui.branch_remove")
    told = gr.HTML(padding=False, elem_classes="sv-note sv-on-tree", elem_id="sv-tree-told")
    return Editor(fields, shape, budget, add, remove, told)


def _choice(page: Page, values: dict[str, Any], name: str, options: tuple[str, ...], kinds: str = "") -> Any:
    field = ChoiceField(
        list(options), value=values[name], elem_id=f"sv-{name}", elem_classes=kinds or None, min_width=120
    )
    return page.labels.add(field, label=f"ui.{name}", choices=[(f"ui.{name}_{option}", option) for option in options])


def _amount(
    page: Page, values: dict[str, Any], name: str, low: float, high: float, step: float, kinds: str = "", id: str = ""
) -> Any:
    field = number(values[name], low, high, step, min_width=80, elem_id=id or f"sv-{name}", elem_classes=kinds or None)
    return page.labels.add(field, label=f"ui.{name}")


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
