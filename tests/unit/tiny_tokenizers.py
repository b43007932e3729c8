"""Small tokenizers of the kinds that causal models use, made by the `tokenizers` library itself."""

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<|end|>", "<|user|>", "<|bot|>"]
CORPUS = ["the quick brown fox jumps over the lazy dog", "世界 hello world é", "don't <|end|> 12 apples"] * 3
TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|bot|>{% endif %}"
)


def byte_level(size: int = 400, template: str | None = TEMPLATE) -> PreTrainedTokenizerFast:
    """GPT-2 style: every byte is in the vocabulary, then learned merges; specials first."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(CORPUS, trainer)
    backend.add_tokens([AddedToken("    ", normalized=False, special=False)])  # a run of spaces, as in GPT-NeoX
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|end|>", chat_template=template)


def sentencepiece_like() -> PreTrainedTokenizerFast:
    """Llama-2 style: "▁" for spaces, <0x..> for bytes, and a begin-of-text token that it adds by itself."""
    words = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), "▁", "h", "i", "▁h", "hi", "▁hi", "é"]
    vocab = {word: i for i, word in enumerate(words)}
    backend = Tokenizer(
        models.BPE(vocab, [("▁", "h"), ("h", "i"), ("▁h", "i")], unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    )
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    backend.add_special_tokens(["<unk>", "<s>", "</s>"])
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
