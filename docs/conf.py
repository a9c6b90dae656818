"""Configuration of Sphinx for the documentation. installer/site.py collects the pages."""

project = "pghaul"
copyright = "The pghaul founders"  # noqa: A001  Sphinx's name for it
extensions = ["myst_parser"]
exclude_patterns = ["conf.py", "checks.md"]  # the reference has the checks with their hints
source_suffix = {".md": "markdown"}
nitpicky = True
smartquotes = False  # messages are looked for as they are printed, and '' is typed in a shell
myst_heading_anchors = 3

html_theme = "furo"
html_title = "pghaul"
html_favicon = html_logo = "pghaul.svg"
html_extra_path = ["extra"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "sidebar_hide_name": False,
    "top_of_page_buttons": [],
    "light_css_variables": {
        "font-stack": "system-ui, sans-serif",
        "color-brand-primary": "#1f5f8b",
        "color-brand-content": "#1f5f8b",
    },
    "dark_css_variables": {"color-brand-primary": "#7fb8dd", "color-brand-content": "#7fb8dd"},
}
