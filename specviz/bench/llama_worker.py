"""llama.cpp in a process of its own: a build for another processor dies of an illegal instruction, and only it may.

Speaks JSON, one object a line. First comes {"gguf", "threads", "context", "k", "gpu"}; it answers {"ready": true}. Then
for each {"tokens", "limit", "eos"} it answers {"tokens", "seconds", "first_seconds", "first_tokens"}.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the library prints is no answer

    def answer(**what: object) -> None:
        print(json.dumps(what), file=answers, flush=True)

    from llama_cpp import Llama
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    wish = json.loads(sys.stdin.readline())
    lookup = LlamaPromptLookupDecoding(max_ngram_size=3, num_pred_tokens=wish["k"]) if wish["k"] else None
    model = Llama(
        wish["gguf"],
        n_ctx=wish["context"],
        n_threads=wish["threads"],
        n_threads_batch=wish["threads"],
        n_gpu_layers=-1 if wish["gpu"] else 0,
        draft_model=lookup,
        verbose=False,
    )
    answer(ready=True)
    for line in sys.stdin:
        task = json.loads(line)
        written: list[int] = []
        began = time.perf_counter()
        first = 0.0
        model.reset()
        greedy = model.generate(task["tokens"], temp=0.0, top_k=1, repeat_penalty=1.0)
        for token in greedy:
            written.append(int(token))
            first = first or time.perf_counter() - began
            if len(written) == task["limit"] or token in task["eos"]:
                break
        answer(tokens=written, seconds=time.perf_counter() - began, first_seconds=first, first_tokens=1)
        greedy.close()


if __name__ == "__main__":
    main()
