"""Names of contenders and sweeps. No torch here: the command line knows them before anything is loaded."""

from __future__ import annotations

# ours, by the method that drafts
OURS = {
    "ours_plain": "none",
    "ours_draft": "draft",
    "ours_skip": "skip",
    "ours_eagle": "eagle",
    "ours_medusa": "medusa",
    "ours_lookup": "lookup",
}
OTHERS = ("hf_generate", "hf_assisted", "hf_lookup", "flashspec", "flashspec_own", "llama_cpp", "llama_cpp_lookup")
KEYS = (*OURS, *OTHERS)
VLLM = "vllm"  # takes part where the address of a server is given
KINDS = ("context", "k", "tree")  # what a sweep changes
