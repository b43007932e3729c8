"""Watch speculative decoding happen, on real models, with every number real.

The public API in three calls::

    pair = specviz.load_pair()
    for round in specviz.speculative(pair, "Explain why the sky is blue.", k=5):
        print(pair.codec.decode(round.emitted), end="")

`specviz.speculative_sampling` is the rule for one position, the very function that the engine runs.
"""

from importlib import import_module

from specviz.cache import settle
from specviz.tuned import apply

settle()  # before the hub's client is imported
apply()  # before torch is

__version__ = "0.1.0"

# Loaded when first used: the screen's first page needs the records, but not torch.
_HOMES = {
    "speculative_sampling": "specviz.engine.verify",
    "load_pair": "specviz.models.load",
    "speculative": "specviz.models.run",
    "run": "specviz.models.run",
    "RunConfig": "specviz.config",
    "Trace": "specviz.trace",
    "Round": "specviz.trace",
    "dump_trace": "specviz.trace_json",
    "load_trace": "specviz.trace_json",
    "measure": "specviz.metrics",
    "SpecvizError": "specviz.errors",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'specviz' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
