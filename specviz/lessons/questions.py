"""The kinds of questions: (trace, moment) -> the numbers, the choices, and which of them is right.

No answer is written down anywhere: each is computed from the trace, or by `theory.py` from what the trace measured.
Values go into the texts of the lesson; a value named `tok` or `tok_...` is a token.
"""

from __future__ import annotations

from collections.abc import Callable

from specviz.lessons.asked import Question
from specviz.lessons.moments import Moment
from specviz.lessons.questions_round import ancestors, exactness, gate, residual, round_size, rows_kept, typical
from specviz.lessons.questions_run import best_length, counters, faster, heads, pass_cost
from specviz.trace import Trace

QUESTIONS: dict[str, Callable[[Trace, Moment], Question]] = {
    kind.__name__: kind
    for kind in (
        pass_cost,
        round_size,
        gate,
        residual,
        exactness,
        best_length,
        rows_kept,
        heads,
        ancestors,
        typical,
        faster,
        counters,
    )
}
