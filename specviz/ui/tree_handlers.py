"""What the Tree tab shows of the round on the board, and what its buttons do. No layout: that is in `tree_tab.py`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr

from specviz.config import TREE_METHODS, VERIFIERS
from specviz.errors import SpecvizError
from specviz.i18n import joined, t
from specviz.trace import Round, Trace
from specviz.ui import samples, step_handlers
from specviz.ui.flow import Pulse, waiting
from specviz.ui.job import Job
from specviz.ui.message import failure, message, run_id
from specviz.ui.place import read_branch, read_place
from specviz.ui.runner import Runner
from specviz.views import tree_heads, tree_mask, tree_tables, words
from specviz.views.tokens import markup
from specviz.views.verifiers import verdicts_beside

Compared = tuple[int, int, Mapping[str, Trace]]  # id of the run, index of the round, a trace for each rule
FIRST_TREE = "tree"  # the recorded run that plays when the tab is opened first


def first_tree(name: Any, values: Sequence[Any], runner: Runner) -> tuple | None:
    """The recorded tree, as from `step_handlers.choose`; None where a tree or something of the visitor's own is shown.

    name     the recorded run on show, if any
    values   of the controls, in the order of `settings.FIELDS`
    """
    if not isinstance(name, str) or not {name, FIRST_TREE} <= {*samples.names()}:
        return None
    shown = samples.sample(name)
    if shown.config.is_tree or list(values) != list(step_handlers.show(shown, runner)[2:]):
        return None
    return step_handlers.choose(FIRST_TREE, runner)


def panels(trace: Trace | None, place: Any, lang: str) -> tuple:
    """Updates of: the selected node in words, the mask, the paths, the drafter's lists, positions and cache rows."""
    at = read_place(trace, place)
    if trace is None or at is None or not at[0].draft.tokens:
        key = "ui.tree_panels_hint" if at is None else "ui.tree_nothing_drafted"
        return f"<p>{markup(t(lang, key))}</p>", gr.update(visible=False), "", "", ""
    r, position = at
    branch = read_branch(place)
    node = position if position is not None and position < len(r.draft.tokens) else None
    return (
        _told(trace, r, position, branch, lang),
        gr.update(value=tree_mask.mask(trace, r.index, node, lang), visible=True),
        tree_tables.paths(trace, r.index, lang),
        tree_heads.levels(trace, r.index, node, lang) or f"<p>{markup(t(lang, 'ui.no_detail'))}</p>",
        tree_tables.rows(trace, r.index, lang),
    )


def _told(trace: Trace, r: Round, position: int | None, branch: tuple[int, ...], lang: str) -> str:
    """The selected node in words; `branch`: the ranks of one that was not drafted yet."""
    if branch:
        said = t(lang, "ui.tree_new_node", level=len(branch), n=branch[-1] + 1)
    elif position is None:
        said = t(lang, "ui.tree_select")
    else:
        said = words.verdict(trace, r.index, position, lang)
    if position is not None and position < len(r.draft.tokens):
        said = joined(lang, said, tree_mask.seen_by(trace, r, position, lang))
    where = t(lang, "ui.tree_place", r=r.index + 1)
    return f"<p><b>{markup(where)}</b> {markup(said)}</p>{_chain_told(trace, lang)}"


def _chain_told(trace: Trace, lang: str) -> str:
    """For a run that drafts chains: what a tree is good for, and how to get one. No `p`, for that may be hidden."""
    if trace.config.is_tree:
        return ""
    way = next((way for way, methods in TREE_METHODS.items() if trace.config.method in methods), "method")
    return f"<div>{markup(joined(lang, t(lang, 'ui.chain_told'), t(lang, f'ui.chain_to_{way}')))}</div>"


def compare(runner: Runner, trace: Trace | None, place: Any, lang: str, session: str) -> Iterator[tuple]:
    """The round on the board, judged by every rule: updates of stage, table, what was compared, Run, Step, Stop.

    Real rounds: each rule runs the round again, with the same draws and so the same draft. Never raises.
    """
    try:
        at = read_place(trace, place)
        if trace is None or at is None:
            raise SpecvizError("ui.nothing_to_compare")
        r = at[0]
        if not r.draft.tokens:
            raise SpecvizError("ui.nothing_to_judge", r=r.index + 1)
        runner.options.check(trace.prompt.text, trace.config)
        found: dict[str, Trace] = {}
        pulse = Pulse()
        for rule in VERIFIERS:
            if rule == "block" and (trace.config.is_tree or not r.draft.shape.is_chain):
                continue
            yield gr.skip(), gr.skip(), gr.skip(), *step_handlers.buttons(busy=True)
            job = _judge_again(runner, trace, r.index, rule, session)
            for grown in job.watch():
                status = waiting(runner, job, runner.pair_of(trace))
                if grown is None and pulse.due(status):
                    yield message(status=status), *[gr.skip()] * 5
            stopped = job.stopped  # by hand, or nobody looks any more: then no other rule follows
            job.stop()
            if job.dropped:  # another trace has come, or the comparison was begun anew: nothing of this one is shown
                yield *[gr.skip()] * 3, *step_handlers.buttons(runner.busy(session))
                return
            if job.error is not None:
                raise job.error
            if job.news is not None and len(job.news.rounds) > r.index:
                found[rule] = job.news
            if stopped:
                break
        table = verdicts_beside(found, r.index, lang) if found else ""
        yield message(status=None), table, (run_id(trace), r.index, found), *step_handlers.buttons(runner.busy(session))
    except Exception as error:
        yield message(status=failure(error)), gr.skip(), gr.skip(), *step_handlers.buttons(runner.busy(session))


def _judge_again(runner: Runner, trace: Trace, index: int, rule: str, session: str) -> Job:
    def make(_pair: object) -> Trace:
        from specviz.models.run import fork

        return fork(trace, index, verify=rule)

    return runner.submit(session, runner.pair_of(trace), make, rounds=1, fresh=False, place="compare")


def compared_again(trace: Trace | None, compared: Compared | None, lang: str) -> tuple:
    """Updates of the table and what it shows: in another language; gone when another trace has come."""
    if compared is None:
        return gr.skip(), gr.skip()
    run, index, found = compared
    if trace is None or run != run_id(trace) or not found:
        return "", None
    return verdicts_beside(found, index, lang), gr.skip()
