"""What the buttons of the Step tab do. Plain values in, updates of components out; the layout is in `step_tab.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr

from specviz.config import check_choice
from specviz.errors import SpecvizError
from specviz.i18n import t
from specviz.trace import Trace
from specviz.ui import samples, settings
from specviz.ui.flow import follow
from specviz.ui.message import failure, message, whole
from specviz.ui.runner import Runner
from specviz.views.tokens import markup

if TYPE_CHECKING:
    from specviz.models.pair import Pair

Updates = tuple[Any, ...]  # of: stage, trace, Run, Step, Stop


def buttons(busy: bool, starters: int = 2) -> Updates:
    """The buttons that start something (Run and Step) while nothing runs, Stop while something does."""
    return *[gr.update(interactive=not busy)] * starters, gr.update(interactive=busy)


def over(runner: Runner) -> Callable[[gr.Request], Updates]:
    """The handler of what follows a race or a check: updates of Run, Step, Stop, which may have waited for it."""

    def free(request: gr.Request) -> Updates:
        return buttons(runner.busy(request.session_hash or ""))

    return free


def run(
    runner: Runner, values: Sequence[Any], shown: Trace | None, session: str, one_round: bool = False
) -> Iterator[Updates]:
    """Runs the prompt to its end, or a single round of it.

    This continues the trace on show, if that was made with just these settings and can go on: it would be the same
    trace again. Else it begins a new one. Never raises: what goes wrong is said on the stage, and the trace stays.
    """
    try:
        wanted = settings.read(values)
        runner.options.check(wanted.prompt, wanted.config)
        going_on = shown is not None and continues(shown, wanted) and (one_round or not shown.config.overrides)

        def make(pair: Pair) -> Trace:
            from specviz.models.run import start

            return shown if going_on and shown is not None else start(pair, wanted.prompt, wanted.config)

        rounds = 1 if one_round else None
        job = runner.submit(session, wanted.pair, make, rounds, fresh=not going_on)
        at = len(shown.rounds) if going_on and shown is not None else None
        yield gr.skip(), gr.skip(), *buttons(busy=True)
        for news, trace in follow(runner, job, wanted.pair, shown, fresh=not going_on, at=at):
            yield news or gr.skip(), trace, gr.skip(), gr.skip(), gr.skip()
        yield gr.skip(), gr.skip(), *buttons(runner.busy(session))
    except Exception as error:
        yield message(status=failure(error)), gr.skip(), *buttons(runner.busy(session))


def continues(shown: Trace, wanted: settings.Settings) -> bool:
    """Whether the next round of `shown` is what these settings ask for."""
    same_pair = shown.models.pair == wanted.pair
    return shown.can_go_on and same_pair and settings.of_trace(shown, wanted.pair) == wanted


def choose(name: Any, runner: Runner) -> Updates:
    """Shows a bundled run: (stage, trace, then the controls in the order of FIELDS)."""
    try:
        check_choice("sample", name, samples.names())
    except SpecvizError as error:
        return message(status=failure(error)), gr.skip(), *[gr.skip()] * len(settings.FIELDS)
    return show(samples.sample(name), runner)


def show(trace: Trace, runner: Runner) -> Updates:
    """A trace on the stage, and its settings in the controls."""
    return whole(trace, status=None), trace, *settings.of_trace(trace, runner.pair_of(trace)).values()


def resync(trace: Trace | None) -> dict:
    """The whole trace for a stage that has missed something; its cursor stays."""
    return whole(trace, play=False, keep=True)


def pair_state(runner: Runner, pair: Any, lang: str) -> tuple[str, bool]:
    """(one line of HTML: the models of the chosen pair or how far their loading is, whether they are ready)."""
    try:
        loader = runner.loader(pair)
    except SpecvizError as error:
        return _line("error", t(lang, error.key, **error.values)), True
    if loader.error is not None:
        return _line("error", t(lang, loader.error.key, **loader.error.values)), False
    if loader.pair is not None:
        made = loader.pair.models_info("draft")
        words = {"target": made.target, "draft": made.draft, "device": made.device.upper(), "dtype": made.dtype}
        return _line("ready", t(lang, "ui.pair_ready", **words)), True
    if not loader.begun:
        return _line("idle", t(lang, "ui.pair_idle", pair=pair)), False
    now = loader.loading
    text = t(lang, "ui.pair_loading", what=t(lang, now.key, **now.values), percent=round(100 * now.fraction))
    return _line("loading", text, now.fraction), False


def _line(kind: str, text: str, fraction: float = 0.0) -> str:
    bar = f'<i class="sv-bar" style="--v:{fraction:.3f}"></i>' if kind == "loading" else ""
    return (
        f'<p class="sv-state sv-state-{kind}" role="status"><i class="sv-dot"></i><span>{markup(text)}</span>{bar}</p>'
    )
