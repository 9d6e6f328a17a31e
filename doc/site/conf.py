# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx for the pages in doc/ as HTML; tools/build-docs.py calls it."""
import pathlib

_ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "assay"
author = "The authors of assay"
version = release = (_ROOT / "VERSION").read_text(encoding="utf-8").strip()
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
# Anchors of headings as in tools/check-links.py.
myst_heading_anchors = 4
# A page has one heading of the first level; some begin with an example.
suppress_warnings = ["myst.header"]
nitpicky = True
highlight_language = "none"
html_theme = "furo"
html_title = f"assay {version}"
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_last_updated_fmt = None
# Nothing from elsewhere: the pages are read without a network.
html_use_opensearch = ""
html_static_path = ["static"]
html_css_files = ["site.css"]
# Furo applies these where the reader chose dark, and where the system did and the reader nothing.
html_theme_options = {"dark_css_variables": {
    "color-problematic": "#ee5151",
    "color-foreground-primary": "#d4d6d9",
    "color-foreground-secondary": "#9ca0a5",
    "color-foreground-muted": "#8d9299",
    "color-foreground-border": "#666666",
    "color-background-primary": "#131416",
    "color-background-secondary": "#1a1c1e",
    "color-background-hover": "#1e2124ff",
    "color-background-hover--transparent": "#1e212400",
    "color-background-border": "#303335",
    "color-background-item": "#444444",
    "color-brand-primary": "#5aa6f2",
    "color-brand-content": "#5aa6f2",
    "color-highlighted-background": "#083563",
    "color-highlight-on-target": "#333300",
    "color-admonition-background": "#18181a",
}}
