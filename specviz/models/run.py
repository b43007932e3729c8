"""From a prompt to a trace: text goes in, a `Trace` that grows by a round at a time comes out.

Nothing is kept between calls. A trace holds all that is needed to go on, on this machine or another.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from transformers import PreTrainedModel

from specviz.config import LEARNED, RunConfig
from specviz.engine.clock import Clock
from specviz.engine.decode import Decoder
from specviz.engine.drafters import Drafter, LookupDrafter
from specviz.engine.medusa import check_depth
from specviz.engine.model import CachedLM
from specviz.engine.pace import Pace
from specviz.engine.sampling import shape
from specviz.engine.tree_drafter import TreeDrafter
from specviz.errors import SpecvizError
from specviz.models.pair import Pair
from specviz.models.text import StopStrings
from specviz.models.zero import on_gpu
from specviz.trace import Finish, Prompt, Round, Trace, ids_of, round_ids

BASELINE_STEPS = 5
REMEMBERED = 100  # rounds that an adaptive k still learns from when a run goes on


def start(pair: Pair, prompt: str, config: RunConfig) -> Trace:
    """A trace of no rounds yet. Raises SpecvizError for a prompt that is empty or too long, and for a tree that
    the heads cannot draft. No model pass.
    """
    tokens = tuple(prompt_ids(pair, prompt, config.chat))
    levels = pair.about(config.method).levels if config.method in LEARNED else None
    if levels is not None and config.tree:
        check_depth(config.depth, levels)
    trace = Trace(config, pair.models_info(config.method), Prompt(prompt, tokens))
    return replace(trace, vocab=tuple(pair.codec.token(i) for i in sorted(ids_of(trace))))


def prompt_ids(pair: Pair, prompt: str, chat: bool, ahead: int = 0) -> list[int]:
    """The tokens of a prompt, after which `ahead` more fit into the target's context. Raises SpecvizError for a prompt
    that is empty or too long.
    """
    ids, context = pair.codec.encode(prompt, chat=chat), pair.max_context
    if not ids:
        raise SpecvizError("errors.prompt_empty")
    if context is not None and len(ids) + ahead > context:
        raise SpecvizError("errors.prompt_long", tokens=len(ids) + ahead, context=context)
    return ids


@on_gpu
def advance(pair: Pair, trace: Trace, rounds: int | None = None, detail: bool = True) -> Iterator[Trace]:
    """Run up to `rounds` more rounds (None: to the end) and yield the longer trace after each.

    The same tokens and verdicts come out however a run is cut into calls, but with `adapt`, where times decide. A trace
    that has ended stays as it is.
    Raises SpecvizError when it was made by other models, or in another dtype.
    """
    if not trace.can_go_on:
        return
    _check_same_models(pair, trace)
    vocab = {token.id: token for token in trace.vocab}
    decoder = decoder_for(pair, trace, detail)
    if decoder.finish is not None:
        yield replace(trace, finish=decoder.finish)
    done = 0
    while decoder.finish is None and (rounds is None or done < rounds):
        new = decoder.step()
        done += 1
        for missing in round_ids(new) - vocab.keys():
            vocab[missing] = pair.codec.token(missing)
        trace = replace(
            trace, rounds=(*trace.rounds, new), finish=decoder.finish, vocab=tuple(vocab[i] for i in sorted(vocab))
        )
        yield trace


def run(pair: Pair, prompt: str, config: RunConfig, detail: bool = True) -> Trace:
    """The whole trace of a prompt."""
    begun = start(pair, prompt, config)
    grown = begun
    for grown in advance(pair, begun, detail=detail):  # noqa: B007 the last one counts
        pass
    return grown


def speculative(pair: Pair, prompt: str, **settings: object) -> Iterator[Round]:
    """Decode `prompt` round by round at full speed. `settings` are those of `RunConfig`, for example k=5."""
    trace = start(pair, prompt, RunConfig(**{"method": pair.method} | settings))
    decoder = decoder_for(pair, trace, detail=False)
    while decoder.finish is None:
        yield decoder.step()


def fork(trace: Trace, at: int, **changes: object) -> Trace:
    """What if? The rounds before `at` as they were, the rest still to be run with `changes` to the config."""
    kept = trace.cut(at)
    return replace(kept, config=replace(trace.config, **changes), finish=None, forked_at=at)


def cancelled(trace: Trace) -> Trace:
    """The trace of a run that was stopped by hand."""
    return replace(trace, finish=trace.finish or Finish.CANCELLED)


def text_of(pair: Pair, trace: Trace) -> str:
    """The generated text, without special tokens and without the stop string that ended it."""
    return StopStrings(pair.codec, trace.config.stop).trim(pair.codec.decode(trace.generated))


def decoder_for(pair: Pair, trace: Trace, detail: bool) -> Decoder:
    """The engine, set to go on where the trace ends, with caches of its own."""
    config, written = trace.config, trace.generated
    return Decoder(
        pair.opened("target"),
        drafter_for(pair, config.method),
        [*trace.prompt.tokens, *written],
        config,
        generated=len(written),
        index=len(trace.rounds),
        eos=pair.eos,
        stop=StopStrings(pair.codec, config.stop) if config.stop else None,
        detail=detail,
        pace=Pace(config.k, trace.rounds[-REMEMBERED:]) if config.adapt else None,
    )


def drafter_for(
    pair: Pair, method: str, cached: Callable[[PreTrainedModel, int], CachedLM] | None = None
) -> Drafter | None:
    """The drafter of a method, with state of its own; None for plain decoding.

    cached: what makes its cache of a model and the number of logits, in place of `pair.opened`.
    """
    if method == "none":
        return None
    if method == "lookup":
        return LookupDrafter(pair.vocab_size, pair.target.device)
    if method in LEARNED:
        return pair.learned(method)
    return TreeDrafter(cached(pair.drafter_model(method), pair.vocab_size) if cached else pair.opened(method))


def with_baseline(pair: Pair, trace: Trace) -> Trace:
    """The trace with the measured time of one plain target step, after its own prompt, on this machine, now.

    The median of a few, the first (a warm-up) left out. Each is rolled back, so all are steps at the same place.
    """
    (measured,) = _step_times(pair, trace)
    return replace(trace, baseline_ms=round(statistics.median(measured[1:]), 3))


@on_gpu
def _step_times(pair: Pair, trace: Trace) -> Iterator[list[float]]:
    """Once, a list: the times of some plain target steps in ms."""
    lm = pair.opened("target")
    tokens = torch.tensor(trace.prompt.tokens)
    lm.prefill(tokens[:-1])
    times = []
    for _ in range(BASELINE_STEPS + 1):
        clock = Clock(lm.device, exact=True)
        shape(lm.forward(tokens[-1:]).logits, trace.config).argmax().item()
        times.append(clock.lap())
        lm.rollback(len(tokens) - 1)
    yield times


def _check_same_models(pair: Pair, trace: Trace) -> None:
    made, here = trace.models, pair.models_info(trace.config.method)
    if (made.target, made.draft, made.dtype) != (here.target, here.draft, here.dtype):
        found, loaded = (f"{m.target} + {m.draft} ({m.dtype})" for m in (made, here))
        raise SpecvizError("errors.trace_pair", found=found, loaded=loaded)
    beyond = max(ids_of(trace), default=0)
    if beyond >= pair.vocab_size:
        raise SpecvizError("errors.token_range", token=beyond, size=pair.vocab_size)
