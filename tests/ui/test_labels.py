"""Every word of the page in both languages."""

import httpx

from specviz.i18n import LANGUAGES, strings
from specviz.ui import samples
from specviz.ui.desk import sample_label

AREAS = ("ui.", "views.")


def test_both_languages_have_the_same_words_and_placeholders():
    import re

    english, chinese = strings("en"), strings("zh-CN")
    for key in (k for k in english if k.startswith(AREAS)):
        assert sorted(re.findall(r"\{\w+\}", english[key])) == sorted(re.findall(r"\{\w+\}", chinese[key])), key
    assert {k for k in english if k.startswith(AREAS)} == {k for k in chinese if k.startswith(AREAS)}


def test_every_labelled_component_switches(address):
    config = httpx.get(f"{address}config").json()
    switch = next(d for d in config["dependencies"] if d["js"] and "SpecvizApp.relabel" in str(d["js"]))
    shown = {c["id"]: c["props"] for c in config["components"]}
    labelled = [
        id
        for id, props in shown.items()
        if props.get("label") and props.get("visible") is not False and props.get("show_label") is not False
    ]
    assert set(labelled) <= set(switch["outputs"])


def test_no_list_acts_when_the_focus_only_passes_by(address):
    """Gradio sends a list's `input` when the focus leaves it, even if nothing was chosen; its `select` it does not."""
    config = httpx.get(f"{address}config").json()
    lists = {c["id"] for c in config["components"] if "choices" in c["props"] and c["type"] != "radio"}
    heard = {(id, event) for one in config["dependencies"] for id, event in one["targets"] if id in lists}
    assert {event for _, event in heard} >= {"select", "change"}
    assert "input" not in {event for _, event in heard}


def test_bundled_runs_have_a_label_in_each_language():
    assert samples.names()
    for lang in LANGUAGES:
        for name in samples.names():
            assert len(sample_label(samples.sample(name), lang)) < 120
