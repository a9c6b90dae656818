"""The colours that have a meaning, as (in light, in dark): the window, the PDF and the HTML report show the same ones.

Each can be read as text on every ground of the window and on paper: its contrast is at least 4.5. No colour stands
alone: wherever one is used, a word or a form says the same.
"""

from enum import Enum


class Tone(Enum):
    """The meaning of a colour. Red means downtime, failure, or what destroys, and nothing else is red.

    The old and the new server are orange and violet: colour-blind eyes tell these apart, and neither is the accent,
    the good green or the red.
    """

    ACCENT = ("#1b62c4", "#6aa6f7")
    BAD = ("#b82c26", "#ff8a80")
    WARNING = ("#8a5800", "#f2b84b")
    GOOD = ("#15703c", "#58c98a")
    MUTED = ("#566070", "#9aa4b0")
    OLD = ("#a34b08", "#f0a04b")
    NEW = ("#5f3dc4", "#b197fc")

    @property
    def on_paper(self) -> str:
        """The colour in a report: paper is light."""
        return self.value[0]
