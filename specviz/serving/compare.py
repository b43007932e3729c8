"""One prompt on a running vLLM server, beside the same on our own engine.

Counts only: vLLM tells how many drafts were accepted, never their p, q or u.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import asdict, dataclass

from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.metrics import mean_acceptance_length, measure_trace
from specviz.serving.client import ServedModel, Server
from specviz.serving.note import Note, note
from specviz.serving.prometheus import Counters
from specviz.serving.stream import Answer
from specviz.serving.versions import OLDEST
from specviz.trace import Trace

SETTLE = 2.0  # seconds that the counters may lag behind the end of an answer
LOOK_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class Counted:
    """Figures that both sides have, by the same definitions. None where they are not known.

    drafts                  rounds in which something was drafted (vLLM counts no others)
    per_position            accepted at position i / drafts
    mean_acceptance_length  1 + accepted / drafts (`specviz.metrics`)
    steps                   accepted in each of these rounds, in their order
    tokens_per_second       all tokens / all the time: of our engine its passes, of a server from request to last token
    """

    tokens: int
    seconds: float
    tokens_per_second: float | None
    first_token_seconds: float | None
    drafts: int | None = None
    draft_tokens: int | None = None
    accepted: int | None = None
    per_position: tuple[float, ...] = ()
    mean_acceptance_length: float | None = None
    draft_acceptance_rate: float | None = None
    steps: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What came back from a server.

    source  where the counts are from: "request" (the server's own for this one) or "metrics" (after less before);
            None: there are none
    """

    model: str
    version: str | None
    text: str
    finish: str | None
    source: str | None
    counted: Counted
    notes: tuple[Note, ...]

    def to_json(self, lang: str) -> dict:
        """For programs."""
        plain = asdict(self) | {"notes": [n.text(lang) for n in self.notes]}
        return plain | plain.pop("counted")


def measure_server(
    server: Server, prompt: str, config: RunConfig, beside: Trace | None = None, model: str | None = None
) -> Measured:
    """As `measuring`, at once."""
    run = measuring(server, prompt, config, beside, model)
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value


def measuring(
    server: Server, prompt: str, config: RunConfig, beside: Trace | None = None, model: str | None = None
) -> Generator[str, None, Measured]:
    """Sends `prompt` and reads the counters before and after. Yields the answer's text as it comes.

    `beside` is our own run of it: whether the server runs the same model, and reads the prompt as the same tokens, is
    noted. `model`: one of those that it serves (None: its first). Raises SpecvizError where there is no answer; one
    whose counters cannot be read any more goes without them.
    """
    version = server.version()
    served = _pick(server.models(), model)
    before = server.counters(served.name)
    answer = yield from server.answer(prompt, config, served.name)
    after, without = None, "metrics_off"
    try:
        after = _settled(server, served.name, before)
    except SpecvizError:
        without = "metrics_unread"
    grown = after.since(before) if before is not None and after is not None else None
    source, counted = _counted(answer, grown)
    notes = [note("counts_only"), *_notes(answer, grown, source, without), *_other(served, answer, beside)]
    if version is not None and version < OLDEST:
        notes.append(note("server_old", version=version, oldest=OLDEST))
    if config.min_p:
        notes.append(note("min_p_not_sent"))
    known = str(version) if version else None
    return Measured(served.name, known, answer.text, answer.finish, source, counted, tuple(notes))


def own(trace: Trace) -> Counted:
    """The same figures of a run of our own."""
    m, drafted = measure_trace(trace), [r for r in trace.rounds if r.draft.tokens]
    return Counted(
        tokens=m.emitted,
        seconds=m.decode_ms / 1000,
        tokens_per_second=m.tokens_per_second,
        first_token_seconds=None,
        **_rates(m.drafts, m.drafted, m.accepted, _at_least([len(r.path) for r in drafted])),
        steps=tuple(len(r.path) for r in drafted),
    )


def _pick(models: tuple[ServedModel, ...], wanted: str | None) -> ServedModel:
    if not models:
        raise SpecvizError("serve.no_models")
    if wanted is None:
        return models[0]
    found = next((m for m in models if m.name == wanted), None)
    if found is None:
        raise SpecvizError("serve.wrong_model", model=wanted, models=", ".join(m.name for m in models)[:200])
    return found


def _settled(server: Server, model: str, before: Counters | None) -> Counters | None:
    """The counters once the request that has just ended is among them; they are written a moment later."""
    end = time.monotonic() + SETTLE
    while True:
        now = server.counters(model)
        if now is None or before is None or now.requests > before.requests or time.monotonic() > end:
            return now
        time.sleep(LOOK_EVERY)


def _counted(answer: Answer, grown: Counters | None) -> tuple[str | None, Counted]:
    speed = answer.tokens / answer.last if answer.tokens and answer.last > 0 else None
    times = {"tokens": answer.tokens, "seconds": answer.last, "tokens_per_second": speed}
    times["first_token_seconds"] = answer.first
    if answer.counts is not None:
        c = answer.counts
        return "request", Counted(
            **times, **_rates(c.drafts, c.draft_tokens, c.accepted, c.per_position), steps=c.steps
        )
    if grown is not None and grown.speculates:
        g = grown
        return "metrics", Counted(**times, **_rates(g.drafts, g.draft_tokens, g.accepted, g.per_position))
    return None, Counted(**times)


def _rates(drafts: int, drafted: int, accepted: int, at: tuple[int, ...]) -> dict:
    if not max(accepted, drafts, *at, 0) <= drafted or max(at, default=0) > drafts:
        raise SpecvizError("serve.garbage", what=f"{drafts} / {drafted} / {accepted}")
    return {
        "drafts": drafts,
        "draft_tokens": drafted,
        "accepted": accepted,
        "per_position": tuple(n / drafts for n in at) if drafts else (),
        "mean_acceptance_length": mean_acceptance_length(accepted, drafts),
        "draft_acceptance_rate": accepted / drafted if drafted else None,
    }


def _at_least(lengths: list[int]) -> tuple[int, ...]:
    """How many are longer than 0, than 1, ... up to the longest."""
    return tuple(sum(length > i for length in lengths) for i in range(max(lengths, default=0)))


def _other(served: ServedModel, answer: Answer, beside: Trace | None) -> list[Note]:
    """How the server's run is not the same as ours."""
    if beside is None:
        return []
    notes, ours = [], len(beside.prompt.tokens)
    if not served.looks_like(beside.models.target):
        notes.append(note("other_model", served=served.name, target=beside.models.target))
    if answer.prompt_tokens not in (0, ours):
        notes.append(note("other_prompt", theirs=answer.prompt_tokens, ours=ours))
    return notes


def _notes(answer: Answer, grown: Counters | None, source: str | None, without: str) -> list[Note]:
    """Where the counts come from, or why there are none; `without` says why nothing has `grown`."""
    if source == "request":
        return [note("from_request")]
    if grown is None:
        return [note(without)]
    if not grown.vllm:
        return [note("no_vllm_metrics")]
    if grown.old:
        return [note("old_metrics")]
    if source is None:
        return [note("not_speculating")]
    others = grown.generated > answer.tokens
    return [note("others_too", generated=grown.generated, tokens=answer.tokens)] if others else []
