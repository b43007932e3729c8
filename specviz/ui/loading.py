"""Loading a pair of models in the background: once, however many visitors wait for it. No Gradio here."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specviz.errors import SpecvizError

if TYPE_CHECKING:
    from specviz.models.pair import Pair

log = logging.getLogger("specviz")

Progress = Callable[..., None]  # progress(fraction, key, **values)


@dataclass(frozen=True, slots=True)
class Loading:
    """How far it is: a fraction and a sentence by its key."""

    fraction: float = 0.0
    key: str = "ui.pair_starting"
    values: dict = field(default_factory=dict)


class PairLoader:
    """`load(progress)` returns a pair. Begun at the first wish for it; a failure is kept until it is begun again."""

    def __init__(self, load: Callable[[Progress], Pair]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.loading = Loading()
        self.pair: Pair | None = None
        self.error: SpecvizError | None = None

    def begin(self) -> None:
        """Starts loading unless that was done before. A failed attempt is made again."""
        with self._lock:
            if self.pair is not None or (self._thread is not None and not self._over.is_set()):
                return
            self.error = None
            self.loading = Loading()
            self._over.clear()
            self._thread = threading.Thread(target=self._run, name="specviz-load", daemon=True)
            self._thread.start()

    def load_here(self) -> None:
        """Loads it in this thread; a failure is kept as ever."""
        self._thread = threading.current_thread()
        self._run()

    @property
    def busy(self) -> bool:
        """Whether it is loading now."""
        return self._thread is not None and not self._over.is_set()

    @property
    def begun(self) -> bool:
        """Whether anybody has asked for it yet."""
        return self._thread is not None

    def over(self, patience: float) -> bool:
        """Whether loading has ended, well or badly, within so many seconds."""
        return self._over.wait(patience)

    def loaded(self) -> Pair:
        """The pair, once it is over. Raises the SpecvizError that loading ended with."""
        if self.error is not None:
            raise self.error
        assert self.pair is not None
        return self.pair

    def release(self) -> None:
        """Lets go of the models' memory; they can be loaded again."""
        with self._lock:
            if self._over.is_set():
                self.pair, self._thread = None, None
                _give_back()

    def _run(self) -> None:
        try:
            self.pair = self._load(self._progress)
        except SpecvizError as error:
            self.error = error
        except Exception:
            log.exception("the models could not be loaded")
            self.error = SpecvizError("ui.load_failed")
        finally:
            self._over.set()

    def _progress(self, fraction: float, key: str, **values: object) -> None:
        self.loading = Loading(fraction, key, values)


def _give_back() -> None:
    """What Python and torch still hold of a pair that is gone."""
    gc.collect()
    torch = sys.modules.get("torch")  # not imported for this: then there is nothing to give back
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
