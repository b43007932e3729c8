"""What a corpus, a training or an evaluation may be asked for: what can be told is told before anything is loaded."""

from __future__ import annotations

import argparse
from pathlib import Path

from specviz.config import LIMITS as RUN_LIMITS
from specviz.config import check_number
from specviz.engine import eagle_layer
from specviz.errors import SpecvizError
from specviz.models import medusa_files
from specviz.models.device import INT8
from specviz.models.fetch import HUB_ID
from specviz.models.local import LAYERS

# option -> (type, lowest, highest)
LIMITS: dict[str, tuple[type, float, float]] = {
    "tokens": (int, 1, 10**12),
    "rows": (int, 1, 4096),
    "width": (int, 16, 1 << 16),
    "seed": (int, 0, 10**12),
    "steps": (int, 1, 10**7),
    "batch": (int, 1, 1024),
    "k": (int, 1, RUN_LIMITS["k"][2]),
    "vocabulary": (int, 16, 10**7),
    "prompts": (int, 1, 10**4),
    "rate": (float, 1e-8, 1.0),
    "tv": (float, 0.0, 1.0),
}
# what weights are kept in: one of these files must be there
FILES = {"draft": (LAYERS,), "eagle": (eagle_layer.WEIGHTS,), "medusa": medusa_files.FILES}


def check_numbers(args: argparse.Namespace) -> None:
    """Raises SpecvizError for a number that makes no sense."""
    for name, (kind, low, high) in LIMITS.items():
        value = getattr(args, name, None)
        if value is not None:
            setattr(args, name, check_number(name, value, kind, low, high))


def check_weights(args: argparse.Namespace) -> None:
    """Raises SpecvizError where `--weights` and the precision are not what `args.what` can use."""
    judged = args.what == "evaluate"
    if args.dtype == INT8 and not judged:
        raise SpecvizError("train.int8")
    kind = args.method if judged else "draft" if args.what == "corpus" else args.what
    if args.weights is None:
        bundled = args.target is None or (args.target == HUB_ID and kind != "draft")
        if judged and kind in FILES and not bundled:
            raise SpecvizError("train.no_bundled", target=args.target, method=kind)
        return
    if kind not in FILES:
        raise SpecvizError("train.without_weights", method=kind)
    weights = needed(args, "weights")
    if not any((weights / name).is_file() for name in FILES[kind]):
        raise SpecvizError("train.no_weights", path=str(weights), method=kind, files=", ".join(FILES[kind]))
    if not judged and needed(args, "out").resolve() == weights.resolve():
        raise SpecvizError("train.same_folder", path=str(weights))


def needed(args: argparse.Namespace, option: str) -> Path:
    value = getattr(args, option)
    if value is None:
        raise SpecvizError("train.missing", option=option)
    return Path(value).expanduser()


def layer_list(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise SpecvizError("errors.number", name="layers", value=text[:40]) from error
