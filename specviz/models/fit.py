"""Whether two models can work together losslessly. Each refusal says why, before anything has run."""

from __future__ import annotations

import torch
from transformers import DynamicCache, PreTrainedModel, PreTrainedTokenizerBase

from specviz.errors import SpecvizError

LEAST_CONTEXT = 16  # positions below which no prompt and answer fit


def vocabulary_rows(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> int:
    """How many ids of the target are tokens: up to the highest id of its tokenizer, at most the rows of its logits.

    Rows above are padding (some models round the size of their tables up) and get probability 0.
    """
    return min(max(tokenizer.get_vocab().values()) + 1, logit_rows(model))


def logit_rows(model: PreTrainedModel) -> int:
    """Rows of the model's LM head."""
    head = model.get_output_embeddings()
    return head.weight.shape[0] if head is not None else model.config.get_text_config(decoder=True).vocab_size


def check_vocabularies(
    target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase, rows: int, draft_rows: int, names: tuple[str, str]
) -> None:
    """Raises SpecvizError("errors.vocabularies") unless each of the target's first `rows` ids means the same to both.

    Different tables would make min(1, p/q) compare the probabilities of different tokens. Padding may differ.
    """
    ours, theirs = _by_id(target, rows), _by_id(draft, rows)
    wrong = next((i for i in range(rows) if ours.get(i) != theirs.get(i)), None)
    if wrong is None and draft_rows < rows:
        wrong = draft_rows
    if wrong is not None:
        values = {"id": wrong, "a": repr(ours.get(wrong)), "b": repr(theirs.get(wrong))}
        raise SpecvizError("errors.vocabularies", target=names[0], draft=names[1], **values)


def _by_id(tokenizer: PreTrainedTokenizerBase, rows: int) -> dict[int, str]:
    return {i: token for token, i in tokenizer.get_vocab().items() if i < rows}


def check_context(model: PreTrainedModel, name: str) -> None:
    """Raises SpecvizError("errors.context_small") for a model that has no room for a prompt and an answer."""
    context = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None)
    if context is not None and context < LEAST_CONTEXT:
        raise SpecvizError("errors.context_small", model=name, context=context, least=LEAST_CONTEXT)


@torch.inference_mode()
def check_rollback(model: PreTrainedModel, name: str) -> None:
    """Raises SpecvizError("errors.cache_fixed") unless rows can be dropped from the model's cache without a trace.

    A recurrent state cannot be taken back (Mamba and hybrids), some models have no cache, and in one that looks
    ahead (BERT) the rows of earlier tokens depend on later ones. So it is tried out: read three tokens, take two
    back, read two others; the logits must be those of a fresh reading, and the first token must not have noticed.
    """
    tokens = torch.tensor([[1, 2, 3, 4, 5]], device=model.device) % logit_rows(model)
    first, wrong, right = tokens[:, :1], tokens[:, 1:3], tokens[:, 3:]
    try:
        cache = DynamicCache(config=model.config)
        cache.activate_past_recording()
        before = model(input_ids=torch.cat([first, wrong], 1), cache=cache, use_cache=True).logits[0]
        works = cache.get_seq_length() == 3 and cache.is_croppable
        if works:
            cache.crop(-2)
            again = model(input_ids=right, cache=cache, use_cache=True).logits[0]
            fresh = model(input_ids=torch.cat([first, right], 1), use_cache=False).logits[0]
            works = _close(again, fresh[1:]) and _close(before[:1], fresh[:1])
    except (TypeError, ValueError, KeyError, RuntimeError, AttributeError, IndexError, NotImplementedError) as error:
        raise SpecvizError("errors.cache_fixed", model=name) from error
    if not works:
        raise SpecvizError("errors.cache_fixed", model=name)


def _close(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether logits [n, V] agree but for rounding, which moves them by up to a few percent of their spread in 16
    bits and by far less in fp32. A stale row moves them by about all of it."""
    tolerance = 0.2 if a.dtype.itemsize < 4 else 0.01
    a, b = a.float(), b.float()
    return bool((a - b).abs().max() <= tolerance * b.std())
