"""From probabilities to a judgement, by the rule of the run's settings, and from there to the records of the trace."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from specviz.config import RunConfig
from specviz.engine.drafters import Proposal
from specviz.engine.sampling import Draws, on_device, shape
from specviz.engine.tree import Tree
from specviz.engine.verify_block import walk_block
from specviz.engine.verify_tree import Siblings, Walk, walk_tree
from specviz.engine.verify_typical import walk_typical
from specviz.errors import SpecvizError
from specviz.trace import Draft, Final, Kind, Status, Verdict


def target(logits: Tensor, config: RunConfig) -> Tensor:
    """logits [n+1, V] -> p. "greedy" is the target at temperature 0, however hot the draft was."""
    return shape(logits, replace(config, temperature=0.0) if config.verify == "greedy" else config)


def judge_draft(p: Tensor, proposal: Proposal | None, tree: Tree, draws: Draws, config: RunConfig) -> Walk:
    """p [n+1, V] of all contexts of a draft of n nodes; None: nothing was drafted."""
    _, gate, v = on_device(draws, p.device)
    u = gate[: len(tree)]
    if proposal is None:
        return walk_tree(p, p[:0], u.long(), u.long(), tree, Siblings.IID, u, v)
    q, source, drafted = (x.to(p.device) for x in (proposal.q, proposal.rows, proposal.tokens))
    if config.verify == "typical":
        return walk_typical(p, q, source, drafted, tree, config.eps, config.delta, v)
    if config.verify == "block":
        return walk_block(p, q, drafted, u, v)
    return walk_tree(p, q, source, drafted, tree, proposal.siblings, u, v)


def record(
    walk: Walk, proposal: Proposal | None, tree: Tree, draws: Draws, config: RunConfig
) -> tuple[Draft, tuple[Verdict, ...], tuple[int, ...], Final]:
    """Bring the judgement to the host: the one synchronisation of a round. Raises SpecvizError where p or q was NaN."""
    n, device = len(tree), walk.p.device
    tokens = drawn_with = walk.p
    if proposal is not None:
        tokens, rows = proposal.tokens.to(device), proposal.rows.to(device)
        drawn_with = proposal.q.to(device)[rows, tokens]
    limit = torch.zeros_like(walk.p) if walk.limit is None else walk.limit
    columns = (tokens, drawn_with, walk.p, walk.q, limit, walk.tried, walk.kept, walk.token, walk.prob, walk.end)
    flat = torch.cat([column.to(torch.float64).reshape(-1) for column in columns]).tolist()
    tokens, drawn_with, p, q, limit, tried, kept = (flat[i * n : (i + 1) * n] for i in range(7))
    token, prob, end = flat[-3:]
    if not all(map(math.isfinite, [*drawn_with, *p, *q, *limit, prob])):
        raise SpecvizError("errors.nan")

    verdicts = []
    for i in range(n):
        status = Status.ACCEPTED if kept[i] else Status.REJECTED if tried[i] else Status.UNREACHED
        drawn = status is not Status.UNREACHED and config.verify != "typical"  # typical acceptance draws nothing
        by = None if walk.limit is None else digits(limit[i])
        verdicts.append(Verdict(status, digits(p[i]), digits(q[i]), draws.gate[i] if drawn else None, by))
    draft = Draft(tuple(map(int, tokens)), tree.parents, tuple(map(digits, drawn_with)))
    if not tree.children[int(end)]:
        kind = Kind.BONUS if n else Kind.TARGET
    else:
        kind = Kind.TARGET if config.verify == "typical" else Kind.RECOVERED
    return draft, tuple(verdicts), tree.path(int(end) - 1), Final(int(token), kind, digits(prob), draws.final)


def digits(x: float) -> float:
    """All that float32 holds, and no more."""
    return float(f"{x:.9g}")


def ended(verdicts: tuple[Verdict, ...], tree: Tree, path: tuple[int, ...]) -> tuple[Verdict, ...]:
    """The verdicts when the text ended with the last node of `path`: what comes after it was never reached."""
    judged = {-1, *path[:-1]}
    pairs = zip(verdicts, tree.parents, strict=True)
    return tuple(v if parent in judged else Verdict(Status.UNREACHED, v.p, v.q) for v, parent in pairs)
