"""Thousands of different prompts: templates of `assets/training/templates.json` filled from lists of words.

A slot `{topic}` takes a word of that list of `words.json`, `{int:2-99}` a number. Sequence i of a corpus gets its
prompt from (seed, i) alone. The prompts of the evaluation are never among them: a test holds every template against
them, and `heldout` lets the corpus refuse what the target writes itself.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from functools import cache

from specviz.i18n import ASSETS

TEMPERATURES = {0.0: 0.30, 0.3: 0.15, 0.5: 0.15, 0.7: 0.25, 1.0: 0.15}  # temperature -> share of the sequences
MAGPIE = 0.35  # share of sequences whose user turn the target writes too (Xu et al., "Magpie", arXiv 2406.08464)
SLOT = re.compile(r"\{(\w+)(?::(\d+)-(\d+))?\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The user's turns, one after another; none: the target writes the user's turn itself."""

    kind: str
    turns: tuple[str, ...]
    temperature: float


@cache
def templates() -> dict[str, list]:
    """kind -> templates; a template is a text, or for several turns a list of texts."""
    return _read("training/templates.json")


@cache
def words() -> dict[str, list[str]]:
    """slot -> what may stand there."""
    return _read("training/words.json")


@cache
def evaluation() -> dict[str, list[str]]:
    """The prompts that drafters are judged on, by kind. Nothing may be trained on them."""
    return _read("evaluation/prompts.json")


def compose(seed: int, index: int) -> Prompt:
    """The prompt of sequence `index`; every kind is equally frequent."""
    rng = random.Random(f"specviz-corpus/{seed}/{index}")
    temperature = rng.choices(list(TEMPERATURES), TEMPERATURES.values())[0]
    if rng.random() < MAGPIE:
        return Prompt("magpie", (), temperature)
    kind = rng.choice(list(templates()))
    template = rng.choice(templates()[kind])
    turns = [template] if isinstance(template, str) else template
    return Prompt(kind, tuple(fill(turn, rng) for turn in turns), temperature)


def fill(template: str, rng: random.Random) -> str:
    """`template` with every slot filled."""

    def one(slot: re.Match) -> str:
        name, low, high = slot.groups()
        return str(rng.randint(int(low), int(high))) if low else rng.choice(words()[name])

    text = SLOT.sub(one, template)
    return text[0].upper() + text[1:]


def same(text: str) -> str:
    """Texts that differ in case, spaces and punctuation only are the same prompt."""
    return re.sub(r"\W+", "", text.lower())


@cache
def heldout() -> frozenset[str]:
    """The evaluation's prompts in the form of `same`."""
    return frozenset(same(prompt) for prompts in evaluation().values() for prompt in prompts)


def _read(name: str) -> dict:
    return json.loads((ASSETS / name).read_text(encoding="utf-8"))
