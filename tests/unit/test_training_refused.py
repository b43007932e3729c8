"""What a training meets on the disk and in its targets: one sentence each, and nothing that was made is lost."""

import errno
import json
import subprocess
import sys

import pytest
import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, Gemma2Config, MixtralConfig, Phi3Config

from specviz.errors import SpecvizError
from specviz.training.chat import Chat
from specviz.training.corpus import check_writer
from specviz.training.eagle import EagleTask
from specviz.training.files import LOCK, alone, explained, put, reading
from specviz.training.labels import Labels, labels_of
from specviz.training.loop import Plan, check_finite, keep, optimizers_of, resume
from specviz.training.shards import read_shard, shards, write_shard
from specviz.training.target import Parts, pruned
from specviz.training.teacher import label
from tests.tiny import SIZES, V, tiny_model
from tests.unit.tiny_tokenizers import byte_level


def refused(key, call, *arguments):
    with pytest.raises(SpecvizError) as raised:
        call(*arguments)
    assert raised.value.key == key
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.fixture
def shard(tmp_path):
    facts = [{"n": 12, "prompt": 4, "temp": 1.0, "magpie": False}] * 3
    write_shard(tmp_path, "part-0", [[1 + i for i in range(12)]] * 3, facts, V)
    label(tiny_model("llama"), shards(tmp_path), lambda *_, **__: None)
    return shards(tmp_path)[0]


LINE = '{"n": 12, "prompt": 4, "temp": 1.0, "magpie": false}\n'


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"[]\n" * 3,
        LINE.encode() * 2 + LINE.encode()[:20],
        LINE.encode() * 2,
        LINE.replace("1.0", '"hot"').encode() * 3,
        LINE.replace("4", "40").encode() * 3,
    ],
)
def test_a_damaged_shard_is_named(shard, content):
    shard.with_suffix(".jsonl").write_bytes(content)
    assert str(shard) in refused("train.shard_broken", read_shard, shard)


@pytest.mark.parametrize("damage", ["empty", "cut", "another"])
def test_damaged_labels_are_named(shard, damage):
    path = labels_of(shard)
    if damage == "another":
        facts = [{"n": 12, "prompt": 4, "temp": 1.0, "magpie": False}] * 2
        write_shard(shard.parent, shard.stem, [[1] * 12] * 2, facts, V)
    else:
        path.write_bytes(path.read_bytes()[:-9] if damage == "cut" else b"")
    assert str(path) in refused("train.damaged", Labels, shard)


def test_a_damaged_checkpoint_is_named(tmp_path):
    module, path = torch.nn.Linear(3, 2), tmp_path / "checkpoint.pt"
    optimizers = optimizers_of(list(module.parameters()), Plan())
    state = {"step": 4, "losses": [], "held_out": [], "seconds": 1.0, "settings": {"rate": 1.0}}
    keep(path, state, module, optimizers)
    whole = path.read_bytes()
    for settings in ({"rate": 1.0}, {"rate": 1.0, "what": "eagle"}):  # older ones do not say what they are of
        assert resume(path, settings, module, optimizers)["step"] == 4
    for content in (b"", b"not a checkpoint", whole[: len(whole) // 2]):
        path.write_bytes(content)
        assert str(path) in refused("train.damaged", resume, path, {"rate": 1.0}, module, optimizers)


def test_a_checkpoint_of_another_drafter_is_no_damage(tmp_path):
    module, path = torch.nn.Linear(3, 2), tmp_path / "checkpoint.pt"
    state = {"step": 4, "losses": [], "held_out": [], "seconds": 1.0, "settings": {"what": "draft"}}
    keep(path, state, module, [])
    assert "(what)" in refused("train.other_run", resume, path, {"what": "eagle"}, torch.nn.Linear(5, 1), [])


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), SafetensorError("I/O error")])
def test_a_failed_write_keeps_the_old_file_and_leaves_no_part(tmp_path, failure):
    path = tmp_path / "weights"
    path.write_text("old")

    def write(part):
        part.write_text("ne")
        raise failure

    assert str(path) in refused("train.files", put, path, write)
    assert [file.name for file in tmp_path.iterdir()] == ["weights"]
    assert path.read_text() == "old"


def test_what_the_system_says_is_a_sentence(tmp_path):
    file = tmp_path / "file"
    file.write_text("")

    def inside():
        with explained():
            (file / "x").write_text("")

    assert str(file) in refused("train.files", inside)

    def read():
        with reading(tmp_path):
            tmp_path.read_text()

    refused("train.files", read)  # a folder is not a damaged file: nobody should delete it


def test_one_run_at_a_time_works_in_a_folder(tmp_path):
    hold = "import sys\n"
    hold += "from filelock import FileLock; it = FileLock(sys.argv[1]); it.acquire(); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, tmp_path / LOCK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "1\n"
        assert str(tmp_path) in refused("train.taken", alone(tmp_path).__enter__)
        other.kill()
    with alone(tmp_path):
        assert (tmp_path / LOCK).is_file()


def test_weights_that_are_no_numbers_never_replace_a_checkpoint():
    check_finite(1.5, 3, Plan())
    for value in (float("nan"), float("inf")):
        assert "step 3" in refused("train.diverged", check_finite, value, 3, Plan())


def test_a_corpus_belongs_to_a_target(tmp_path):
    check_writer(tmp_path, ("mine",))  # shards alone say nothing
    (tmp_path / "corpus.json").write_text(json.dumps({"target": "mine"}))
    check_writer(tmp_path, ("ours", "mine"))
    assert "ours" in refused("train.other_target", check_writer, tmp_path, ("ours",))
    (tmp_path / "corpus.json").write_text("{")
    refused("train.damaged", check_writer, tmp_path, ("mine",))


def tiny(config):
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval().requires_grad_(False)


OTHERS = {"phi3": Phi3Config(**SIZES, pad_token_id=0), "mixtral": MixtralConfig(**SIZES, num_local_experts=2)}


@pytest.mark.parametrize("config", OTHERS.values(), ids=OTHERS)
def test_a_layer_that_cannot_be_copied_is_refused(config):
    assert "Qwen3" in refused("train.architecture", EagleTask, tiny(config), "other", torch.arange(V), None)


def test_logits_that_are_bent_after_the_head_are_refused():
    model = tiny(Gemma2Config(**SIZES, head_dim=8, query_pre_attn_scalar=8))
    refused("train.architecture", Parts.of, model, "other")
    refused("train.architecture", pruned, model, (0, 2))  # the embedding's scale is no weight and would be missing


EACH = "{% for turn in messages %}"
TEMPLATES = {
    "nothing before": EACH + "{{ turn['content'] }}<x>{% endfor %}",
    "in capitals": EACH + "<x>{{ turn['content'] | upper }}<y>{% endfor %}",
    "one turn": "<x>{{ messages[0]['content'] }}<y>",
    "fails": "{{ raise_exception('one turn, please') }}",
}


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_that_cannot_be_cut_is_refused(template):
    tokenizer = byte_level()
    tokenizer.chat_template = template
    refused("train.chat", Chat.of, tokenizer, frozenset())
