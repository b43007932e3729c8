"""The corpus that drafters learn from: text that the target writes itself, or a draft, for the target to judge.

Many texts at once, one token each per pass; a finished text makes room for the next. Text i depends on its
writer and (seed, i) alone. Texts are gathered into shards of consecutive numbers, each written when its last text is
done, so that an interruption costs the texts under way and the unwritten shards (one or two), and a new start goes on
from there.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from specviz.errors import SpecvizError
from specviz.training.batch import Batch, draw_rows
from specviz.training.chat import Chat
from specviz.training.files import reading
from specviz.training.labels import write_labels
from specviz.training.prompts import compose
from specviz.training.report import write_report
from specviz.training.sequence import LEAST, Sequence
from specviz.training.shards import read_shard, shards, write_shard
from specviz.training.target import name_of

Progress = Callable[..., None]
REPORT = "corpus.json"
WIDTH = 192  # a short text repeats itself less, and more of them means more prompts
DRAFT = "draft-"  # what the names of shards begin with that a draft wrote


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """tokens: how many the corpus should hold; rows: texts written at once; width: tokens of a text at most;
    shard: texts of a shard."""

    tokens: int = 4_000_000
    seed: int = 0
    rows: int = 192
    width: int = WIDTH
    shard: int = 200


class Writer:
    """Writes the shards of `plan` that `out` still lacks, until it holds enough tokens."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        eos: tuple[int, ...],
        out: Path,
        plan: CorpusPlan,
        draft: str | None = None,
    ) -> None:
        """draft: the name of the draft that `model` is. None: it is the target, so what it thought along the way is
        kept for the drafters to learn from.
        """
        self.tokenizer, self.eos, self.out, self.plan = tokenizer, frozenset(eos), out, plan
        self.chat = Chat.of(tokenizer, self.eos)
        least = 2 * (len(self.chat.opening) + len(self.chat.to_answer) + LEAST)  # a prompt may take half of it
        if plan.width < least:
            raise SpecvizError("train.narrow", width=plan.width, least=least)
        self.size = model.config.get_text_config(decoder=True).vocab_size
        self.draft = draft
        self.batch = Batch(model, plan.rows, plan.width, self.chat.opening)
        out.mkdir(parents=True, exist_ok=True)
        self.have = sum(path.stat().st_size // (2 if self.size <= 1 << 16 else 4) for path in shards(out))
        self.done: dict[int, list[tuple[Sequence, dict]]] = {}  # shard number -> its finished texts and their labels
        self.numbers = self._missing()
        self.written, self.seconds = 0, 0.0

    def run(self, progress: Progress) -> dict:
        """Writes until there are enough tokens; returns the report."""
        if self.have >= self.plan.tokens:
            return self._whole()
        plan, start = self.plan, time.monotonic()
        texts = [self._next() for _ in range(plan.rows)]
        last = torch.tensor([text.tokens[-1] for text in texts])
        while self.have < plan.tokens:
            position = torch.tensor([len(text.tokens) - 1 for text in texts])
            logits = self.batch.step(last, position)
            heat = torch.tensor([text.temperature for text in texts], device=logits.device)
            u = torch.tensor([text.rng.random() for text in texts], dtype=torch.float64, device=logits.device)
            for row, token in enumerate(draw_rows(logits, heat, u).tolist()):
                self.written += not texts[row].given
                texts[row].take(token)
                if texts[row].done:
                    self._finish(texts[row], self.batch.labels(row, len(texts[row].tokens)))
                    texts[row] = self._next()
            last = torch.tensor([text.tokens[-1] for text in texts])
            self.seconds = time.monotonic() - start
            rate = round(self.written / self.seconds)
            progress(min(1.0, self.have / plan.tokens), "train.writing", done=self.have, total=plan.tokens, rate=rate)
        return self._report()

    def _whole(self) -> dict:
        """The report of a corpus that already holds enough, as it is.

        Raises SpecvizError("train.whole") where it is not by the draft that was asked for.
        """
        report = read_report(self.out)
        if self.draft and report.get("writer") != self.draft:
            raise SpecvizError("train.whole", path=str(self.out), tokens=self.have)
        return report or self._report()

    def _next(self) -> Sequence:
        index, plan = next(self.numbers), self.plan
        prompt = compose(plan.seed, index)
        return Sequence(plan.seed, index, prompt, self.chat, self._encode, self.eos, plan.width)

    def _missing(self) -> Iterator[int]:
        """Numbers of the texts to write: all those of shards that are not there, in order."""
        shard = 0
        while True:
            if not (self.out / f"{self._name(shard)}.bin").exists():
                yield from range(shard * self.plan.shard, (shard + 1) * self.plan.shard)
            shard += 1

    def _name(self, shard: int) -> str:
        return f"{DRAFT if self.draft else ''}seed{self.plan.seed}-{shard:05}"

    def _encode(self, turn: str) -> list[int]:
        room = self.plan.width // 2  # a long text leaves room for an answer
        return self.tokenizer(turn, add_special_tokens=False, split_special_tokens=True)["input_ids"][:room]

    def _finish(self, text: Sequence, labels: dict) -> None:
        shard = text.index // self.plan.shard
        done = self.done.setdefault(shard, [])
        done.append((text, labels))
        if len(done) < self.plan.shard:
            return
        done = [one for one in done if one[0].worth_keeping(self.tokenizer.decode)]
        done.sort(key=lambda one: one[0].index)
        if not done:  # it would go on like this for ever
            raise SpecvizError("train.nothing_written", texts=self.plan.shard, least=LEAST)
        del self.done[shard]
        tokens, facts = [text.tokens for text, _ in done], [text.facts() for text, _ in done]
        path = self.out / f"{self._name(shard)}.bin"
        if self.draft is None:
            write_labels(path, {name: torch.cat([labels[name] for _, labels in done]) for name in done[0][1]})
        self.have += write_shard(self.out, path.stem, tokens, facts, self.size)
        self._report()

    def _report(self) -> dict:
        model = self.batch.model
        target = name_of(model)  # a draft bears the name of its target
        facts = {"target": target, "writer": self.draft or target, "plan": asdict(self.plan)}
        facts |= {"dtype": str(model.dtype).removeprefix("torch."), "tokens": self.have}
        facts |= {"tokens_per_second": round(self.written / max(self.seconds, 1e-9), 1)}
        facts |= describe(self.out)
        write_report(self.out / REPORT, facts)
        return facts


def check_writer(folder: Path, names: tuple[str, ...]) -> None:
    """Raises SpecvizError("train.other_target") where the corpus is not that of the target with these names. A folder
    without a report is taken as it is.
    """
    report = read_report(folder)
    if report and report["target"] not in names:
        raise SpecvizError("train.other_target", path=str(folder), target=report["target"], wanted=names[0])


def read_report(folder: Path) -> dict:
    """The report of a corpus; empty where there is none."""
    file = folder / REPORT
    if not file.is_file():
        return {}
    with reading(file):
        report = json.loads(file.read_text(encoding="utf-8"))
        return report | {"target": report["target"]}  # one that names no target is damaged


def describe(folder: Path) -> dict:
    """How many texts and written tokens a corpus holds, by temperature and by who wrote them."""
    texts, tokens, by_temperature, paths = 0, {"target": 0, "draft": 0}, Counter(), shards(folder)
    for path in paths:
        writer = "draft" if path.name.startswith(DRAFT) else "target"
        for text in read_shard(path):
            texts += 1
            tokens[writer] += sum(end - start for start, end in text.spans)
            by_temperature[f"{text.temperature:g}"] += 1
    facts = {"shards": len(paths), "texts": texts, "tokens_by_writer": tokens}
    return facts | {"texts_by_temperature": dict(sorted(by_temperature.items()))}
