"""A public page as a stranger meets it: limits for every event, shut doors, headers, no place of the machine."""

import asyncio
import inspect
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest

from specviz.errors import SpecvizError
from specviz.serving.note import Note
from specviz.ui import headers, samples, serve_handlers, whatif
from specviz.ui.build import build
from specviz.ui.options import PUBLIC_BYTES, PUBLIC_PROMPT, PUBLIC_RUNS, PUBLIC_SWEEP, Options
from specviz.ui.runner import Runner
from tests.fake_vllm import FakeVllm, error, models, running

LONG = "x" * (PUBLIC_PROMPT + 1)
WIDE = json.dumps([*([n] for n in range(33)), *([n, 0] for n in range(33))])  # 66 nodes
MODEST = {"sv-prompt": "Why?", "sv-most": 8, "sv-method": "draft", "sv-pf-where": "pair", "sv-pf-prompt": "Why?"}
RUN = {"run", "step", "on_race", "on_race_1", "on_sweep", "check", "fork"}  # the events that run models
OWN = {"check", "fork"}  # those with a prompt and settings of their own
CHAINS = OWN | {"on_sweep"}  # and the one that sets how long and how wide runs are


class Page:
    """The app as it is built, and all its events as the API calls them, without a server and without models."""

    def __init__(self):
        self.runner = Runner(Options(public=True), load=lambda _pair, _progress: pytest.fail("nothing may load"))
        self.runner.lane.submit = self._asked
        self.events = [fn for fn in build(self.runner.options, self.runner).demo.fns.values() if fn.fn is not None]
        self.now, self.asked = "", set()

    def _asked(self, *_args):
        self.asked.add(self.now)
        raise SpecvizError("ui.full", n=0)

    def send(self, **changes):
        """Each event, with MODEST and `changes` in the fields of these ids; the ones that would have run models."""
        self.asked = set()
        given = MODEST | {name.replace("_", "-"): value for name, value in changes.items()}
        for fn in self.events:
            self.now = fn.api_name
            if self.now not in RUN:
                continue
            fields = iter([given.get(c.elem_id, c.value) if c.elem_id else c.value for c in fn.inputs])
            arguments = []
            for parameter in inspect.signature(fn.fn).parameters.values():
                if parameter.annotation == "gr.Request":
                    arguments.append(SimpleNamespace(session_hash="stranger"))
                elif parameter.kind is parameter.VAR_POSITIONAL:
                    arguments += fields
                else:
                    arguments.append(next(fields))
            assert list(fn.fn(*arguments))  # it answers, whatever came
        return self.asked


@pytest.fixture(scope="module")
def page():
    async def make():  # where no event loop runs, Gradio makes some that nobody closes
        return Page()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(make())).result()


def test_the_modest_are_served(page):
    assert {fn.api_name for fn in page.events} >= RUN
    assert page.send() == RUN


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"sv_prompt": LONG}, OWN),
        ({"sv_pf_prompt": LONG}, RUN - {"check"}),
        ({"sv_pf_runs": PUBLIC_RUNS + 1}, RUN - {"check"}),
        ({"sv_k": 17}, OWN),
        ({"sv_most": 129}, CHAINS),
        ({"sv_tree": WIDE}, CHAINS),
        ({"sv_method": "eagle", "sv_nodes": 65}, CHAINS),
        ({"sv_method": "eagle", "sv_nodes": 16, "sv_branch": 9}, CHAINS),
        ({"sv_sweep_tokens": PUBLIC_SWEEP + 1}, RUN - {"on_sweep"}),
        ({"sv_pair": "smollm2-1.7b"}, OWN),
        ({"sv_pair": "nobody/nothing"}, OWN),
        ({"sv_pair": "/etc"}, OWN),
    ],
)
def test_what_is_too_much_runs_nowhere(page, changes, left):
    assert page.send(**changes) == left


def test_a_fork_keeps_the_limits(page):
    trace = samples.sample(samples.FIRST)
    last = list(whatif.fork(page.runner, trace, 1, "k", 17, 1, "en", "stranger"))[-1]
    assert "at most 16" in json.dumps(last[0])


def test_traces_from_outside_are_small(page):
    assert page.runner.options.max_trace_bytes == PUBLIC_BYTES
    trace = samples.sample(samples.FIRST)
    page.runner.options.check_trace(trace)
    long = replace(trace, config=replace(trace.config, max_new_tokens=129))
    with pytest.raises(SpecvizError, match="at most 128"):
        page.runner.options.check_trace(long)


def test_a_vllm_servers_model_is_named_without_its_folder():
    trace, named = samples.sample(samples.FIRST), "/srv/models/thing"
    fake = FakeVllm()
    fake.routes["/v1/models"] = (200, models(named))
    with running(fake) as url:
        for public in (False, True):
            table = list(serve_handlers.compare(Runner(Options(vllm_url=url, public=public)), trace, "s", "en"))[-1][0]
            assert "thing" in table
            assert ("/srv/models" in table) is not public


def test_what_a_vllm_server_says_of_its_network_stays_here():
    trace, told = samples.sample(samples.FIRST), "upstream http://10.1.2.3:8000/v1/x failed, host gpu-7.internal"
    fake = FakeVllm()
    fake.routes["/v1/models"] = (200, models("http://10.1.2.3:8000/v1"))
    with running(fake) as url:
        for public in (False, True):
            runner = Runner(Options(vllm_url=url, public=public))
            assert ("10.1.2.3" in list(serve_handlers.compare(runner, trace, "s", "en"))[-1][0]) is not public
        fake.routes["/v1/models"] = (400, error(told))
        for public in (False, True):
            runner = Runner(Options(vllm_url=url, public=public))
            said = list(serve_handlers.compare(runner, trace, "s", "en"))[-1][0]
            assert "refuses" in said
            assert ("gpu-7" in said) is not public


@pytest.mark.parametrize(
    "door",
    [
        "file=/etc/passwd",
        "file=README.md",
        "file=http://a.b/",
        "file/x",
        "proxy=http://a.b/",
        "deep_link?session_hash=x",
    ],
)
def test_doors_are_shut(address, door):
    answer = httpx.get(f"{address}gradio_api/{door}", timeout=60)
    assert (answer.status_code, answer.text) == (404, "Not found")


def test_what_one_visitor_sends_in_no_other_gets(address):
    sent = httpx.post(f"{address}gradio_api/upload", files={"files": ("run.json", b'{"secret": 1}')}, timeout=60)
    (path,) = sent.json()
    assert httpx.get(f"{address}gradio_api/file={path}", timeout=60).status_code == 404
    for door in ("monitoring", "monitoring/summary", "gradio_api/runs"):
        assert httpx.get(f"{address}{door}", timeout=60).status_code in (403, 404)


def test_the_page_and_its_files_have_the_headers(address):
    for path in ("", "config", "theme.css", "healthz", "gradio_api/info", "no/such/page"):
        found = httpx.get(f"{address}{path}", timeout=60).headers
        policy = dict(part.split(" ", 1) for part in found["content-security-policy"].split("; "))
        assert policy["default-src"] == "'self'"
        assert policy["object-src"] == "'none'"
        assert policy["frame-ancestors"] == "'self'"
        assert "http" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "same-origin"
        assert "x-frame-options" not in found


def test_on_a_space_the_hub_may_frame_it():
    policy = dict(headers.headers(on_space=True))[b"content-security-policy"].decode()
    frames = policy.partition("frame-ancestors ")[2].split()
    assert {"'self'", "https://huggingface.co"} <= set(frames)
    assert "*" not in frames
    assert policy.count("https://") == len(frames) - 1  # they may frame it; nothing is loaded from there


def test_notes_without_places():
    from specviz.ui.discretion import told

    note = Note("serve.other_model", {"served": "/srv/models/thing", "target": "SmolLM2", "n": 3})
    assert told(note.values) == {"served": "thing", "target": "SmolLM2", "n": 3}
