"""A tiny target and draft in folders, as a user has them."""

from tests.tiny import tiny_model
from tests.unit.tiny_tokenizers import byte_level

CONTEXT = 512


def save_pair(root, context=CONTEXT):
    """(target folder, draft folder). The draft is the target with a little noise: often right, not always."""
    size = len(byte_level())
    for name in ("target", "draft"):
        byte_level().save_pretrained(root / name)
        model = tiny_model("llama", vocab_size=size, eos_token_id=0, max_position_embeddings=context)
        if name == "draft":
            for weight in model.lm_head.parameters():
                weight.data += 0.3 * weight.data.roll(1, -1)
        model.save_pretrained(root / name)
    return root / "target", root / "draft"
