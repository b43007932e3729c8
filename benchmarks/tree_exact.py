"""Greedy decoding with Medusa trees against transformers' own `model.generate`, token for token.

    python -m benchmarks.tree_exact [threads]

On the bundled pair in float32: eight held-out prompts, 64 tokens each, the best trees of 8, 16, 32 and 64 nodes. Prints
a line a run, then one JSON object. Exit status 1 where a token differs; near-ties are not forgiven.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import zip_longest

import torch

from specviz.metrics import measure
from specviz.models.load import load_pair
from specviz.models.pair import Pair
from specviz.models.run import speculative
from specviz.models.tree_presets import best_of
from specviz.training.prompts import evaluation

NODES = (8, 16, 32, 64)
PROMPTS, TOKENS = 8, 64


def generated(pair: Pair, prompt: str) -> list[int]:
    """What transformers writes."""
    ids = torch.tensor([pair.codec.encode(prompt)])
    asked = {"max_new_tokens": TOKENS, "do_sample": False, "pad_token_id": pair.eos[0]}
    out = pair.target.generate(ids, attention_mask=torch.ones_like(ids), **asked)
    return out[0, ids.shape[1] :].tolist()


def main() -> int:
    """Makes every run, also behind one that differs."""
    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    pair = load_pair(method="medusa", device="cpu", dtype="float32")
    prompts = [text for texts in zip(*evaluation().values(), strict=True) for text in texts][:PROMPTS]  # of all kinds
    began, runs = time.perf_counter(), []
    plain = {prompt: generated(pair, prompt) for prompt in prompts}
    print("nodes  tokens  passes  tokens a pass  differs at  prompt")
    for nodes in NODES:
        for prompt in prompts:
            rounds = list(speculative(pair, prompt, method="medusa", tree=best_of(nodes), max_new_tokens=TOKENS))
            ours = [token for r in rounds for token in r.emitted]
            at = next((i for i, (a, b) in enumerate(zip_longest(plain[prompt], ours)) if a != b), None)
            length = measure(rounds).tokens_per_round
            told = "nowhere" if at is None else at
            print(f"{nodes:5}  {len(ours):6}  {len(rounds):6}  {length:13.2f}  {told:>10}  {prompt[:50]}", flush=True)
            runs.append((len(ours), at is None))
    figures = {"runs": len(runs), "same": sum(same for _, same in runs), "tokens": sum(tokens for tokens, _ in runs)}
    print(json.dumps(figures | {"seconds": round(time.perf_counter() - began)}))
    return 0 if figures["same"] == len(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
