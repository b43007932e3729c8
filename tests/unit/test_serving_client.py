"""The client, against a server over real sockets: what a real vLLM answered, and everything that goes wrong."""

import json
import socket
import threading
import time

import pytest

from specviz.config import RunConfig
from specviz.errors import SpecvizError
from specviz.i18n import LANGUAGES, t
from specviz.serving import compare
from specviz.serving.client import Patience, Server, server_url
from specviz.serving.compare import measure_server, own
from tests.fake_vllm import MODEL, FakeVllm, dribble, error, models, page, running
from tests.trees import tree_trace

CONFIG = RunConfig("lookup", k=4, temperature=0.8, top_k=5, top_p=0.9, seed=7, max_new_tokens=64, stop=("END",))
HASTY = Patience(connect=1.0, read=0.5, total=1.0, page=1.0)


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(compare, "SETTLE", 0.2)
    return FakeVllm()


def measured(fake, config=CONFIG, prompt="Hi", patience=HASTY, **more):
    with running(fake) as url:
        return measure_server(Server(url, patience), prompt, config, **more)


def refusal(fake, **more):
    began = time.monotonic()
    with pytest.raises(SpecvizError) as caught:
        measured(fake, **more)
    assert time.monotonic() - began < 5
    assert str(caught.value)
    return caught.value


def keys(found):
    for lang in LANGUAGES:
        assert all(note.text(lang) for note in found.notes)
    return {note.key.removeprefix("serve.") for note in found.notes}


def without_request_metrics():
    """The recorded stream of a server that was started without --per-request-spec-decode-metrics."""
    events = []
    for event in page("answer-0.32.txt").strip().split("\n\n"):
        if "speculative_decoding" in event:
            told = json.loads(event.removeprefix("data: "))
            del told["metrics"]
            event = f"data: {json.dumps(told)}"
        events.append(event)
    return "\n\n".join(events).encode() + b"\n\n"


def test_a_recorded_answer(fake):
    found = measured(fake)
    c = found.counted
    assert found.version == "0.32"
    assert found.text.startswith("I'm")
    assert found.finish == "stop"
    assert (c.tokens, c.drafts, c.draft_tokens, c.accepted) == (44, 13, 52, 8)
    assert c.mean_acceptance_length == pytest.approx(1.6153846153846154)  # the server's own figure
    assert c.draft_acceptance_rate == pytest.approx(0.15384615384615385)  # the same
    assert c.per_position == (3 / 13, 3 / 13, 2 / 13, 0)
    assert c.steps == (0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 2)
    assert c.tokens_per_second == pytest.approx(44 / c.seconds)
    assert found.source == "request"
    assert keys(found) == {"counts_only", "from_request"}
    told = found.to_json("zh-CN")
    assert told["accepted"] == 8
    json.dumps(told, allow_nan=False)


def test_without_the_counts_of_the_request_the_page_of_metrics_says_the_same(fake):
    wanted = measured(fake).counted
    fake.stream = without_request_metrics()
    fake.metrics = [page("metrics-0.32-before.txt"), page("metrics-0.32-after.txt")]
    found = measured(fake)
    assert found.source == "metrics"
    for name in ("drafts", "draft_tokens", "accepted", "per_position", "mean_acceptance_length"):
        assert getattr(found.counted, name) == getattr(wanted, name), name
    assert found.counted.steps is None
    assert keys(found) == {"counts_only"}


def test_what_is_sent(fake):
    measured(fake, prompt="世界")
    path, body = fake.asked[0]
    assert path == "/v1/chat/completions"
    assert body["messages"] == [{"role": "user", "content": "世界"}]
    wanted = {"temperature": 0.8, "top_k": 5, "top_p": 0.9, "seed": 7, "max_tokens": 64, "stop": ["END"]}
    assert body.items() >= (wanted | {"model": MODEL, "stream": True}).items()
    assert "min_p" not in body
    fake.asked.clear()
    found = measured(fake, RunConfig(chat=False, min_p=0.1, temperature=1.0, max_new_tokens=10**5), prompt="One")
    path, body = fake.asked[0]
    assert path == "/v1/completions"
    assert body["prompt"] == "One"
    assert body["max_tokens"] == 4096
    assert "min_p" not in body
    assert "min_p_not_sent" in keys(found)


def test_raw_text_streams_in_another_form(fake):
    fake.stream = (
        b'data: {"choices":[{"text":" two"}]}\r\n\r\n'
        b'data: {"choices":[{"text":" three","finish_reason":"length"}]}\r\n\r\n'
        b': a comment\n\ndata: {"choices":[],"usage":{"completion_tokens":2,"prompt_tokens":1}}\n\ndata: [DONE]\n\n'
    )
    found = measured(fake, RunConfig(chat=False))
    assert (found.text, found.counted.tokens, found.finish) == (" two three", 2, "length")


@pytest.mark.parametrize(("key", "sent"), [("secret", "secret"), (" secret\n", "secret"), ("cl\xe9", "cl\xc3\xa9")])
def test_a_key_is_sent_and_a_wrong_one_is_said(fake, monkeypatch, key, sent):
    monkeypatch.setenv("VLLM_API_KEY", key)
    measured(fake)
    assert set(fake.keys) == {f"Bearer {sent}"}  # which http.server reads as Latin-1
    fake.routes["/v1/models"] = 401, b'{"error":"Unauthorized"}'
    assert refusal(fake).key == "serve.key"


@pytest.mark.parametrize("inside", ["\n", "\r\n", "\n ", "\x0b", "\x01", "\x7f"])
def test_a_key_that_cannot_be_sent_is_not_shown(fake, monkeypatch, inside):
    monkeypatch.setenv("VLLM_API_KEY", f"sk-secret{inside}second")
    wrong = refusal(fake)
    assert wrong.key == "serve.key_form"
    assert not any(part in t(lang, wrong.key, **wrong.values) for lang in LANGUAGES for part in ("secret", "second"))
    assert wrong.__cause__ is None
    assert fake.keys == []


def test_beside_our_own_run(fake):
    trace = tree_trace([(0,), (0, 0), (1,)], path=(0, 1))
    found = measured(fake, beside=trace)
    assert keys(found) >= {"other_model", "other_prompt"}
    ours = own(trace)
    assert (ours.drafts, ours.draft_tokens, ours.accepted, ours.steps) == (1, 3, 2, (2,))
    assert ours.mean_acceptance_length == 3.0
    assert ours.per_position == (1.0, 1.0)


def test_others_use_the_server_too(fake):
    fake.stream = without_request_metrics()
    row = 'vllm:generation_tokens_total{engine="0",model_name="smollm2-135m"}'
    fake.metrics[1] = fake.metrics[1].replace(f"{row} 44.0", f"{row} 90.0")
    found = measured(fake)
    note = next(n for n in found.notes if n.key == "serve.others_too")
    assert note.values == {"generated": 90, "tokens": 44}


@pytest.mark.parametrize(
    ("metrics", "key"),
    [
        ([], "metrics_off"),
        (["python_info 1\n"], "no_vllm_metrics"),
        ([page("metrics-0.6.txt")], "old_metrics"),
        (["vllm:generation_tokens_total 3\n"], "not_speculating"),
    ],
)
def test_servers_that_do_not_count_drafts_are_still_timed(fake, metrics, key):
    fake.stream, fake.metrics = without_request_metrics(), metrics
    found = measured(fake)
    assert found.source is None
    assert found.counted.drafts is None
    assert found.counted.tokens_per_second > 0
    assert key in keys(found)


def test_a_page_that_never_ends_is_not_taken_for_whole(fake):
    fake.metrics = [dribble(b"vllm:spec_decode_num_drafts_total 3\n", 0.05)]
    assert refusal(fake).key == "serve.timeout"
    assert fake.asked == []


@pytest.mark.parametrize(
    "stalling",
    [dribble(b"", 1.0, seconds=2.0), dribble(b"", 1.0, seconds=2.0, begun=False), dribble(b"vllm:requests 3\n", 0.05)],
)
def test_an_answer_outlives_metrics_that_cannot_be_read_after_it(fake, stalling):
    before = fake.metrics[0]
    fake.metrics = [before, stalling]
    found = measured(fake)
    assert found.source == "request"
    assert keys(found) == {"counts_only", "from_request"}
    fake.stream, fake.metrics = without_request_metrics(), [before, stalling]
    found = measured(fake)
    assert (found.text[:3], found.source, found.counted.tokens, found.counted.drafts) == ("I'm", None, 44, None)
    assert keys(found) == {"counts_only", "metrics_unread"}


def test_versions(fake):
    fake.routes["/version"] = 200, {"version": "0.9.2"}
    assert "server_old" in keys(measured(fake))
    for unclear in ((404, b""), (200, b"<html>"), (200, {"version": 3})):
        fake.routes["/version"] = unclear
        assert measured(fake).version is None


def test_models(fake):
    fake.routes["/v1/models"] = 200, models("a", "b")
    assert measured(fake, model="b").model == "b"
    assert measured(fake).model == "a"
    wrong = refusal(fake, model="c")
    assert (wrong.key, wrong.values["models"]) == ("serve.wrong_model", "a, b")
    fake.routes["/v1/models"] = 200, models()
    assert refusal(fake).key == "serve.no_models"


def test_names_that_nobody_gives_a_model(fake):
    fake.routes["/v1/models"] = 200, models("x" * 500_000, "good")
    assert measured(fake).model == "good"
    fake.routes["/v1/models"] = 200, models("half \ud800")
    assert refusal(fake).key == "serve.garbage"


def test_counts_that_cannot_be(fake):
    fake.stream = without_request_metrics()
    rows = "vllm:spec_decode_num_drafts_total 9\nvllm:spec_decode_num_draft_tokens_total {}\n"
    rows += "vllm:spec_decode_num_accepted_tokens_total 20\n"
    fake.metrics = ["vllm:spec_decode_num_drafts_total 0\n", rows.format(10)]
    assert refusal(fake).key == "serve.garbage"
    fake.metrics = ["vllm:spec_decode_num_drafts_total 0\n", rows.format(45)]
    assert measured(fake).counted.accepted == 20


def test_what_was_packed_is_not_unpacked(fake):
    """A page of 2 KB could become gigabytes."""
    fake.headers = {"Content-Encoding": "gzip"}
    assert refusal(fake).values["what"] == "Content-Encoding"


def test_who_is_not_wanted_any_more_is_cut_off(fake):
    """Between two pieces of text, too."""
    fake.stream, unwanted = dribble(b": ping\n\n", 0.05, seconds=60), threading.Event()
    with running(fake) as url:
        server = Server(url, Patience(), unwanted.is_set)
        threading.Timer(0.3, unwanted.set).start()
        with pytest.raises(SpecvizError) as caught:
            measure_server(server, "Hi", CONFIG)
    assert caught.value.key == "serve.timeout"


def test_a_server_that_is_down(fake):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    for call in (Server(url, HASTY).models, Server(url, HASTY).version):
        with pytest.raises(SpecvizError) as caught:
            call()
        assert caught.value.key == "serve.down"
        assert url in str(caught.value)


def test_a_server_that_hangs(fake):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)  # takes the connection and never answers
        server = Server(f"http://127.0.0.1:{silent.getsockname()[1]}", HASTY)
        with pytest.raises(SpecvizError) as caught:
            server.models()
    assert caught.value.key == "serve.timeout"


def test_the_engine_dies_under_the_request(fake):
    fake.stream = page("answer-0.32-engine-dead.txt").encode()
    wrong = refusal(fake)
    assert wrong.key == "serve.refused"
    assert "EngineCore encountered an issue" in str(wrong)


@pytest.mark.parametrize(
    ("stream", "key"),
    [
        (b"<html>a proxy's page</html>", "serve.garbage"),
        (b"data: {not json}\n\n", "serve.garbage"),
        (b"data: [1, 2]\n\n", "serve.garbage"),
        (b'data: {"choices": 3}\n\n', "serve.garbage"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "serve.garbage"),
        (b"\x00\xff\xfe\n", "serve.garbage"),
        (b"", "serve.cut_off"),
        (b'data: {"choices":[{"text":"a"}]}\n\n', "serve.cut_off"),
        (b'data: {"choices":[{"text":"a"}]}\n\ndata: [DONE]\n\n', "serve.no_usage"),
        (b'data: {"choices":[],"usage":{"completion_tokens":-4}}\n\ndata: [DONE]\n\n', "serve.no_usage"),
        (b'data: {"choices":[],"usage":[1]}\n\ndata: [DONE]\n\n', "serve.no_usage"),
        (dribble(b'data: {"choices":[{"text":"and "}]}\n\n', 0.01), "serve.timeout"),
        (dribble(b'data: {"choices":[{"text":"' + b"x" * 500_000 + b'"}]}\n\n', 0), "serve.endless"),
        (dribble(b"x" * 500_000, 0), "serve.endless"),
        (dribble(b"", 1.0, seconds=2.0), "serve.timeout"),
        (dribble(b": ping\n\n", 0.1), "serve.timeout"),
        (dribble(b"H", 0.1, begun=False), "serve.timeout"),
        (b'data: {"choices":[{"text":"half \\ud800"}]}\n\n', "serve.garbage"),
        (b'data: {"error":{"message":"bad \\ud800"}}\n\n', "serve.garbage"),
    ],
)
def test_streams_that_are_none(fake, stream, key):
    fake.stream = stream
    assert refusal(fake).key == key


@pytest.mark.parametrize(
    "metrics",
    [
        {"speculative_decoding": 3},
        {"speculative_decoding": {"acceptance_histogram": "x"}},
        {"speculative_decoding": {"acceptance_histogram": [1, -1], "num_spec_steps": 1}},
        {"speculative_decoding": {"acceptance_histogram": [1] * 10_000, "num_spec_steps": 1}},
        [],
    ],
)
def test_counts_of_a_request_in_another_form_are_left_alone(fake, metrics):
    event = {"choices": [], "usage": {"completion_tokens": 44}, "metrics": metrics}
    fake.stream = f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode()
    assert measured(fake).source == "metrics"


@pytest.mark.parametrize(
    ("status", "body", "key"),
    [
        (400, error("max_tokens is too large"), "serve.refused"),
        (404, error("The model does not exist"), "serve.refused"),
        (500, b"Internal Server Error", "serve.no_api"),
        (400, b'["a", 1]', "serve.refused"),
        (302, b"", "serve.no_api"),
        (400, error("half \ud800"), "serve.no_api"),
    ],
)
def test_requests_that_are_refused(fake, status, body, key):
    fake.status, fake.stream = status, body
    assert refusal(fake).key == key


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 3}', b"\xff", b'{"data": [3, {"id": 4}]}'])
def test_lists_of_models_that_are_none(fake, body):
    fake.routes["/v1/models"] = 200, body
    assert refusal(fake).key in ("serve.garbage", "serve.no_models")


def test_no_such_server(fake):
    del fake.routes["/v1/models"]
    assert refusal(fake).key in ("serve.refused", "serve.no_api")


@pytest.mark.parametrize(
    "good",
    [
        "http://127.0.0.1:8000",
        "https://host/",
        "http://host:80/base/v1",
        " http://[::1]:8000/v1/ ",
        "http://localhost.:8000",
        "http://my_host",
        "http://bücher.example",
        "http://xn--bcher-kva.example",
    ],
)
def test_addresses(good):
    assert not server_url(good).endswith(("/", "/v1"))


@pytest.mark.parametrize(
    "wrong",
    ["", "localhost:8000", "ftp://host", "http://", "http://host:99999", "http://host:x", "file:///etc/passwd",
     "http://user:key@host", "http://host/?a=1", "http://[::1", "x" * 5000,
     "http://127.0.0..1:8000", "http://localhost..", "http://" + "a" * 64, "http://é..b", "http://xn--", "http://\udcff"],
)  # fmt: skip
def test_addresses_that_are_none(wrong):
    with pytest.raises(SpecvizError) as caught:
        server_url(wrong)
    assert caught.value.key == "serve.url"
    assert len(str(caught.value)) < 300
