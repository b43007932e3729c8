"""Pure functions from a trace to what is shown of it: Plotly figures, sentences, HTML. No torch, no Gradio."""
