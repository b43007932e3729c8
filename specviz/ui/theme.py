"""Gradio's theme in the stage's colours: white space and hairlines, one dark thing, system fonts only."""

from __future__ import annotations

import gradio as gr

SANS = [
    "Inter",
    "SF Pro Text",
    "system-ui",
    "Segoe UI",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "sans-serif",
]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace"]

LIGHT = {
    "bg": "#ffffff",
    "ink": "#191c22",
    "ink2": "#565d69",
    "surface": "#f6f7f9",
    "line": "#dfe2e8",
    "accent": "#2b50c4",
}
DARK = {
    "bg": "#13151a",
    "ink": "#e8eaf0",
    "ink2": "#a8afbc",
    "surface": "#1a1d24",
    "line": "#333945",
    "accent": "#93b0ff",
}


def theme() -> gr.themes.Base:
    """The theme. No web fonts: the page asks nobody but its own server."""
    base = gr.themes.Base(font=SANS, font_mono=MONO, text_size="sm", spacing_size="sm", radius_size="md")
    values: dict[str, str] = {}
    for suffix, c in (("", LIGHT), ("_dark", DARK)):
        values |= {
            f"body_background_fill{suffix}": c["bg"],
            f"background_fill_primary{suffix}": c["bg"],
            f"background_fill_secondary{suffix}": c["surface"],
            f"body_text_color{suffix}": c["ink"],
            f"body_text_color_subdued{suffix}": c["ink2"],
            f"block_background_fill{suffix}": c["bg"],
            f"block_label_text_color{suffix}": c["ink2"],
            f"block_title_text_color{suffix}": c["ink2"],
            f"block_info_text_color{suffix}": c["ink2"],
            f"border_color_primary{suffix}": c["line"],
            f"border_color_accent{suffix}": c["accent"],
            f"color_accent_soft{suffix}": c["surface"],
            f"input_background_fill{suffix}": c["bg"],
            f"input_border_color{suffix}": c["line"],
            f"input_border_color_focus{suffix}": c["accent"],
            f"button_primary_background_fill{suffix}": c["ink"],
            f"button_primary_background_fill_hover{suffix}": c["accent"],
            f"button_primary_text_color{suffix}": c["bg"],
            f"button_secondary_background_fill{suffix}": c["surface"],
            f"button_secondary_background_fill_hover{suffix}": c["line"],
            f"button_secondary_text_color{suffix}": c["ink"],
            f"link_text_color{suffix}": c["accent"],
            f"block_border_width{suffix}" if not suffix else "panel_border_width_dark": "0px",
        }
    return base.set(
        **values,
        block_shadow="none",
        block_padding="0px",
        block_title_text_weight="400",
        input_shadow="none",
        input_shadow_focus="none",
        input_border_width="1px",
        button_large_text_weight="600",
        layout_gap="10px",
        form_gap_width="0px",
    )
