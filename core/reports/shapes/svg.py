"""A plot as SVG (W3C Recommendation `Scalable Vector Graphics 1.1`): vectors, in millimetres, with its text as text."""

from xml.sax.saxutils import escape, quoteattr

from core.reports.drawing import PALETTE, Box, Dot, Drawing, Line, Mark, Shape, Words

FONTS = "'IBM Plex Sans', 'Segoe UI', 'DejaVu Sans', sans-serif"
_MM_PER_POINT = 0.3528
_ANCHORS = {"start": "start", "middle": "middle", "end": "end"}


def svg(drawing: Drawing, *, alone: bool = True) -> str:
    """The plot; `alone`: as a file of its own, else to stand in an HTML file."""
    size = (
        f'width="{drawing.width:g}mm" height="{drawing.height:g}mm" viewBox="0 0 {drawing.width:g} {drawing.height:g}"'
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n' if alone else ""
    # a reader of screens says the words instead of the marks
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(_plain(drawing.alt))}>'
    return f"{head}{begin}<title>{escape(_plain(drawing.alt))}</title>{''.join(map(_mark, drawing.marks))}</svg>\n"


def _mark(mark: Mark) -> str:
    if isinstance(mark, Box):
        edge = f' stroke="{PALETTE[mark.outline]}" stroke-width="0.2"' if mark.outline else ""
        return (
            f'<rect x="{mark.x:.2f}" y="{mark.y:.2f}" width="{mark.width:.2f}" height="{mark.height:.2f}" '
            f'fill="{PALETTE[mark.fill]}"{edge}/>'
        )
    if isinstance(mark, Line):
        dashes = ' stroke-dasharray="1 0.8"' if mark.dashed else ""
        return (
            f'<line x1="{mark.x1:.2f}" y1="{mark.y1:.2f}" x2="{mark.x2:.2f}" y2="{mark.y2:.2f}" '
            f'stroke="{PALETTE[mark.colour]}" stroke-width="{mark.width * _MM_PER_POINT:.2f}"{dashes}/>'
        )
    if isinstance(mark, Shape):
        points = " ".join(f"{x:.2f},{y:.2f}" for x, y in mark.points)
        return f'<polygon points="{points}" fill="{PALETTE[mark.fill]}"/>'
    if isinstance(mark, Dot):
        fill = f'fill="{PALETTE[mark.colour]}"'
        ring = f'fill="none" stroke="{PALETTE[mark.colour]}" stroke-width="0.4"'
        return f'<circle cx="{mark.x:.2f}" cy="{mark.y:.2f}" r="{mark.radius:.2f}" {fill if mark.filled else ring}/>'
    return _words(mark)


def _words(mark: Words) -> str:
    weight = ' font-weight="600"' if mark.bold else ""
    return (
        f'<text x="{mark.x:.2f}" y="{mark.y:.2f}" dominant-baseline="central" text-anchor="{_ANCHORS[mark.anchor]}" '
        f'font-family="{FONTS}" font-size="{mark.size * _MM_PER_POINT:.2f}" fill="{PALETTE[mark.colour]}"{weight}>'
        f"{escape(_plain(mark.text))}</text>"
    )


def _plain(text: str) -> str:
    """Without the characters that XML 1.0 does not allow (section 2.2, `Char`)."""
    return "".join(letter if letter >= " " and not "\ud800" <= letter <= "\udfff" else "\ufffd" for letter in text)
