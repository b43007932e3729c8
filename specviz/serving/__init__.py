"""The way to vLLM: settings out, old calls brought up to date, a running server's numbers in. No torch, no gradio."""
