"""The real HTTP API: everything past the sliders' limits is refused in words, and the app goes on."""

import json
import time

import httpx
import pytest

from specviz.ui import settings


def call(address, name, data, timeout=60):
    """Calls a named endpoint as any client does; the last output of its stream."""
    with httpx.Client(base_url=address, timeout=timeout) as client:
        body = json.dumps({"data": data})  # NaN too: the server must not fall for it
        answer = client.post(f"gradio_api/call/{name}", content=body, headers=JSON)
        answer.raise_for_status()
        result = None
        with client.stream("GET", f"gradio_api/call/{name}/{answer.json()['event_id']}") as stream:
            event = None
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: ") and event in ("generating", "complete", "error"):
                    result = event, json.loads(line.removeprefix("data: "))
                    if event != "generating":
                        return result
        return result


JSON = {"Content-Type": "application/json"}
GOOD = ["Name a colour.", "skip", 3, 0.8, "1", 0, 1, 0, 6, "", True, "smollm2-135m"]
GOOD += ["lossless", "[[0],[1],[0,0]]", "fixed", 0, 4, 0.09, 0.3]
PLACES = dict(zip(settings.FIELDS, range(len(GOOD)), strict=True))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("k", 10**9), ("k", -1), ("k", "3"), ("k", {"a": 1}), ("temperature", float("nan")), ("temperature", -1),
        ("prompt", "x" * 10_000_000), ("prompt", None), ("pair", "../../etc/passwd"), ("pair", "nobody/nothing"),
        ("method", "x" * 1000), ("seed", "0x10"), ("verify", "magic"), ("tree", "[[0],[1]"), ("tree", "[[1,0]]"),
        ("tree", None), ("tree", "[" * 50_000), ("siblings", 3), ("branch", 10**6), ("eps", float("nan")),
    ],
)  # fmt: skip
def test_out_of_range_values_are_refused_at_once(address, name, value):
    data = list(GOOD)
    data[PLACES[name]] = value
    began = time.monotonic()
    event, out = call(address, "run", data)
    assert event == "complete"
    assert json.loads(out[0])["status"]["kind"] == "error"
    assert len(json.dumps(out)) < 2_000
    assert time.monotonic() - began < 10  # 2 s on an idle machine


@pytest.mark.pair
def test_after_all_that_a_run_still_works(address):
    event, out = call(address, "run", GOOD, timeout=300)
    assert event == "complete"
    assert "error" not in json.dumps(out)


def test_a_bundled_run_can_be_asked_for(address):
    event, out = call(address, "bundled_run", ["sky"])
    assert event == "complete"
    assert json.loads(out[0])["trace"]["schema"] == "specviz-trace/1"
    event, out = call(address, "bundled_run", ["../../pyproject"])
    assert json.loads(out[0])["status"]["kind"] == "error"


def test_only_what_is_meant_is_documented(address):
    info = httpx.get(f"{address}gradio_api/info").json()
    expected = {"/run", "/step", "/check", "/stop", "/fork", "/export", "/export_page", "/open_trace", "/bundled_run"}
    expected |= {"/translate_vllm"}
    assert set(info["named_endpoints"]) == expected
    names = [p["parameter_name"] for p in info["named_endpoints"]["/run"]["parameters"]]
    assert names[:3] == ["prompt", "method", "k"]


def test_the_page_names_no_other_host(address):
    assert "fonts.googleapis.com" not in httpx.get(address).text.split("<body")[0]
