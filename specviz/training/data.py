"""Batches of labelled texts. Batch s is a function of (seed, s) alone, so that a training can go on anywhere."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from specviz.errors import SpecvizError
from specviz.training.labels import HIDDEN, TAPS, Labels
from specviz.training.shards import Text, read_shard

HELD_BACK = 50  # every 50th text is never trained on; it counts unless another one is the same word by word
POOL = 16  # batches that are sorted by length together, so that little is padded
LEAST = 2 * HELD_BACK


@dataclass(frozen=True, slots=True)
class Labelled:
    """A batch: what the texts say and what the target thinks after each token. Padded on the right."""

    tokens: Tensor  # [B, S] ids
    ids: Tensor  # [B, S, TOP] the target's likeliest tokens after this one
    probs: Tensor  # [B, S, TOP] float32, and their probabilities; 0 in the padding
    hidden: Tensor  # [B, S, d] float32, the target's last hidden states
    taps: Tensor  # [B, S, 3 d] float32, those of the layers `labels.taps`
    counts: Tensor  # [B, S] bool: the next token was written by the corpus's writer, not given to it

    def to(self, device: torch.device) -> Labelled:
        return Labelled(*(getattr(self, name).to(device) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands in the corpus."""

    text: Text
    labels: Labels
    start: int


def teaches(text: Text) -> bool:
    """Whether there is anything to learn from it: a token that was written, with one before it to guess it from."""
    return any(end > max(start, 1) for start, end in text.spans)


class Data:
    """The labelled corpus of the shards at `paths`; `wants`: which of the target's states are read, HIDDEN or TAPS."""

    def __init__(self, paths: list[Path], seed: int, batch: int, wants: tuple[str, ...]) -> None:
        self.seed, self.batch, self.wants = seed, batch, wants
        places = []
        for path in paths:
            labels, start = Labels(path), 0
            for text in read_shard(path):
                if teaches(text):
                    places.append(Place(text, labels, start))
                start += len(text.tokens)
        if len(places) < LEAST:
            raise SpecvizError("train.small_corpus", texts=len(places), least=LEAST)
        self.places = [place for i, place in enumerate(places) if i % HELD_BACK]
        seen = {place.text.tokens.tobytes() for place in self.places}  # at temperature 0 a prompt has one answer
        self.held_back = [place for place in places[::HELD_BACK] if place.text.tokens.tobytes() not in seen]
        self.per_epoch = len(self.places) // batch
        self._epoch: tuple[int, list[list[int]]] = (-1, [])

    def at(self, step: int) -> Labelled:
        """The batch of a training step."""
        epoch, index = divmod(step, self.per_epoch)
        if self._epoch[0] != epoch:
            self._epoch = (epoch, self._order(epoch))
        return self._read([self.places[i] for i in self._epoch[1][index]])

    def held_back_batches(self, low: float = 0.0, high: float = math.inf) -> list[Labelled]:
        """The texts kept back that were written at temperatures low .. high, shortest first."""
        kept = [place for place in self.held_back if low <= place.text.temperature <= high]
        kept.sort(key=lambda place: len(place.text.tokens))
        return [self._read(kept[i : i + self.batch]) for i in range(0, len(kept), self.batch)]

    def frequent(self, size: int, always: tuple[int, ...] = ()) -> tuple[Tensor, float]:
        """The `size` ids that the corpus's writers wrote most often, `always` among them, rising; their share."""
        counts: Counter[int] = Counter()
        for place in self.places:
            for start, end in place.text.spans:
                counts.update(place.text.tokens[start:end].tolist())
        total = sum(counts.values())
        chosen = set(always)
        for token, _ in counts.most_common():
            if len(chosen) >= size:
                break
            chosen.add(token)
        return torch.tensor(sorted(chosen)), sum(counts[token] for token in chosen) / total

    def facts(self) -> dict:
        """For the report."""
        tokens = sum(len(place.text.tokens) for place in self.places)
        return {"texts": len(self.places), "tokens": tokens, "texts_held_back": len(self.held_back)}

    def _order(self, epoch: int) -> list[list[int]]:
        rng = random.Random(f"specviz-training/{self.seed}/{epoch}")
        order = list(range(len(self.places)))
        rng.shuffle(order)
        batches = []
        for at in range(0, len(order), POOL * self.batch):
            pool = sorted(order[at : at + POOL * self.batch], key=lambda i: len(self.places[i].text.tokens))
            batches += [pool[i : i + self.batch] for i in range(0, len(pool), self.batch)]
        batches = [batch for batch in batches if len(batch) == self.batch][: self.per_epoch]
        rng.shuffle(batches)
        return batches

    def _read(self, places: list[Place]) -> Labelled:
        width = max(len(place.text.tokens) for place in places)
        first = places[0].labels.read("ids", 0, 1)
        n, top = len(places), first.shape[1]
        tokens = torch.zeros(n, width, dtype=torch.long)
        ids = torch.zeros(n, width, top, dtype=torch.long)
        probs = torch.zeros(n, width, top)
        depth = {name: places[0].labels.read(name, 0, 1).shape[1] for name in self.wants}
        states = {name: torch.zeros(n, width, depth.get(name, 0)) for name in (HIDDEN, TAPS)}
        counts = torch.zeros(n, width, dtype=torch.bool)
        for row, place in enumerate(places):
            length = len(place.text.tokens)
            end = place.start + length
            tokens[row, :length] = torch.from_numpy(place.text.tokens.astype(np.int64))
            ids[row, :length] = place.labels.read("ids", place.start, end).long()
            probs[row, :length] = place.labels.read("probs", place.start, end).float()
            for name in self.wants:
                states[name][row, :length] = place.labels.read(name, place.start, end).float()
            for begin, stop in place.text.spans:
                counts[row, max(begin - 1, 0) : stop - 1] = True
        return Labelled(tokens, ids, probs, states[HIDDEN], states[TAPS], counts)
