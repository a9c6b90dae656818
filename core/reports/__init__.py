"""Reports of a move as PDF, HTML, Markdown, CSV, JSON and SVG, in the language of the reader.

`report.py` is what is known. Each module of `kinds` makes one kind of `Document` (`model.py`) from `parts` and
`charts`. Plots are drawn once, as shapes. `shapes` writes the document; PDF is made by the template in
resources/report. `make.py` does all of this in order, and `masking.py` hides names. What the history has recorded in
English is translated by `recorded.py`.
"""
