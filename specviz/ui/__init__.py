"""The web page: Gradio components, one module per tab, and the runner that stands between visitors and the models."""
