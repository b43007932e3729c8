"""Starts the app: python app.py, then open the address it prints."""

from __future__ import annotations

import argparse

from specviz.errors import SpecvizError
from specviz.ui.build import build
from specviz.ui.options import Options, on_space
from specviz.ui.startup import check_start


def main() -> None:
    """Reads the flags, serves the page, and loads the models in the background."""
    flags = argparse.ArgumentParser(description="Watch speculative decoding happen, on real models.")
    flags.add_argument("--host", default=None, help="address to listen on (default: 127.0.0.1; 0.0.0.0 for all)")
    flags.add_argument("--port", type=int, default=None, help="port (default: the first free one from 7860)")
    flags.add_argument("--pair", default=None, help="a preset: see python -m specviz pairs")
    flags.add_argument("--target", default=None, help="hub id or folder of a target model")
    flags.add_argument("--draft", default=None, help="hub id or folder of its draft model")
    flags.add_argument("--heads", default=None, help="folder or hub id of EAGLE-style or Medusa weights for the target")
    flags.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    flags.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    flags.add_argument(
        "--public",
        action=argparse.BooleanOptionalAction,
        default=on_space(),
        help="tighter limits, for a page that strangers use (on a Hugging Face Space: unless --no-public)",
    )
    flags.add_argument(
        "--vllm-url", default=None, help="address of a vLLM server to compare runs with, for the Serve tab"
    )
    flags.add_argument("--share", action="store_true", help="also open a public link through Gradio's servers")
    given = flags.parse_args()
    if given.pair and (given.target or given.draft):
        flags.error("give either --pair or --target and --draft, not both")
    if given.port is not None and not 0 < given.port < 65536:
        flags.error("--port must lie between 1 and 65535")
    models = given.pair, given.target, given.draft, given.heads, given.device, given.dtype
    try:
        options = Options(*models, public=given.public, vllm_url=given.vllm_url)
        check_start(options)
        app = build(options)
    except SpecvizError as error:
        flags.error(str(error))
    try:
        _, local, shared = app.launch(server_name=given.host, server_port=given.port, share=given.share)
    except OSError as error:  # the port is taken, or the address is not ours
        flags.error(str(error).splitlines()[0])
    print(f"specviz is at {shared or local}  (Ctrl+C stops it)", flush=True)
    app.wait()


if __name__ == "__main__":
    main()
