"""What is wrong with how the app was started: said before the page opens, not by its first visitor. No Gradio here."""

from __future__ import annotations

from specviz.config import check_choice
from specviz.models.local import model_folder
from specviz.models.names import check_device, check_dtype
from specviz.models.presets import PRESETS
from specviz.ui.options import Options


def check_start(options: Options) -> None:
    """Raises SpecvizError for a pair, a device, a precision, a model or a folder that there is not.

    Whether a hub has a model of that name is seen when it is fetched. torch is asked only for a device other than the
    CPU: the page opens before it is imported.
    """
    if options.pair is not None:
        check_choice("pair", options.pair, PRESETS)
    kind, _ = check_device(options.device)
    check_dtype(options.dtype)
    for name in (options.target, options.draft, options.heads):
        if name is not None:
            model_folder(name)
    if kind not in ("auto", "cpu"):
        from specviz.models.device import choose_device, choose_dtype

        choose_dtype(options.dtype, choose_device(options.device))
