"""What if? The rounds before a fork as they were, the rest run again with one thing changed. No layout here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz.config import Override, RunConfig, check_choice, check_number
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.trace import Trace
from specviz.ui.flow import follow
from specviz.ui.message import failure, message, whole
from specviz.ui.runner import Runner
from specviz.ui.settings import read_seed
from specviz.ui.step_handlers import buttons
from specviz.views.compare import comparison
from specviz.views.numbers import prob
from specviz.views.tokens import name, vocabulary
from specviz.views.tree_shape import context_of

CHANGES = ("temperature", "k", "seed", "u", "token")


def changed(trace: Trace | None, at: Any, change: Any, value: Any, position: Any) -> tuple[int, RunConfig]:
    """(index of the round, the new settings). `at` and `position` count from 1, as the screen does.

    Raises SpecvizError for a round or a position that the trace does not have, and for a value that cannot be.
    """
    if trace is None or not trace.rounds:
        raise SpecvizError("ui.nothing_to_fork")
    check_choice("change", change, CHANGES)
    index = int(check_number("round", at, int, 1, len(trace.rounds))) - 1
    kept = tuple(o for o in trace.config.overrides if o.round < index)
    if change in ("temperature", "k", "seed"):
        if change == "seed":
            value = read_seed(value)
        if change == "k" and trace.config.tree:
            raise SpecvizError("ui.k_of_tree")
        return index, replace(trace.config, overrides=kept, **{change: value})
    k = len(trace.rounds[index].draft.tokens)
    if not k:
        raise SpecvizError("ui.nothing_drafted", r=index + 1)
    place = int(check_number("position", position, int, 1, k)) - 1
    same_round = tuple(o for o in trace.config.overrides if o.round == index and o.position != place)
    if change == "token" and value is None:
        raise SpecvizError("ui.no_token")
    new = Override(index, place, **{change: value})
    return index, replace(trace.config, overrides=(*kept, *same_round, new))


def in_words(trace: Trace, index: int, config: RunConfig, change: str, lang: str) -> str:
    """What was changed, as part of a sentence."""
    if change in ("u", "token"):
        new = config.overrides[-1]
        r = trace.rounds[index]
        vocab = vocabulary(trace)
        if change == "u":
            old = r.verdicts[new.position].u
            return t(
                lang, "ui.changed_u", n=new.position + 1, old=prob(old) if old is not None else "–", new=prob(new.u)
            )
        old_name, new_name = name(vocab, r.draft.tokens[new.position]), name(vocab, new.token or 0)
        return t(lang, "ui.changed_token", n=new.position + 1, old=old_name, new=new_name)
    return t(lang, f"ui.changed_{change}", old=getattr(trace.config, change), new=getattr(config, change))


def fork(
    runner: Runner, trace: Trace | None, at: Any, change: Any, value: Any, position: Any, lang: str, session: str
) -> Iterator[tuple]:
    """Updates of: the second stage, its trace, the comparison, Run, Step, Stop. Never raises."""
    shown: Trace | None = None
    try:
        index, config = changed(trace, at, change, value, position)
        assert trace is not None
        runner.options.check(trace.prompt.text, config)
        pair = runner.pair_of(trace)
        said = in_words(trace, index, config, change, lang)

        def make(_pair: object) -> Trace:
            from specviz.models.run import fork as cut

            return replace(cut(trace, index), config=config)

        job = runner.submit(session, pair, make, place="fork")
        yield gr.update(value=whole(None, status={"kind": "running"}), visible=True), None, "", *buttons(busy=True)
        for news, forked in follow(runner, job, pair, None, fresh=True, at=index):
            compared = gr.skip() if forked is None or forked is shown else comparison(trace, forked, said, lang)
            shown = forked
            yield news or gr.skip(), forked, compared, *[gr.skip()] * 3
        yield gr.skip(), gr.skip(), gr.skip(), *buttons(runner.busy(session))
    except Exception as error:
        status = gr.update(value=message(status=failure(error)), visible=True)
        yield status, gr.skip(), gr.skip(), *buttons(runner.busy(session))


def token_choices(trace: Trace | None, at: Any, position: Any) -> list[tuple[str, int]]:
    """Tokens that could have been drafted there: the likeliest of q, then of p, with their q and p."""
    if trace is None or not all(isinstance(x, int | float) and 1 <= x < 1e9 for x in (at, position)):
        return []
    index, place = int(at) - 1, int(position) - 1
    if index >= len(trace.rounds) or trace.rounds[index].detail is None:
        return []
    r = trace.rounds[index]
    if place >= len(r.draft.tokens):
        return []
    d = r.detail[context_of(r, place)]
    vocab = vocabulary(trace)
    order = sorted(range(len(d.ids)), key=lambda i: -(d.q[i] + d.p[i]))
    return [(f"{name(vocab, d.ids[i])}   q {prob(d.q[i])}   p {prob(d.p[i])}", d.ids[i]) for i in order[:24]]
