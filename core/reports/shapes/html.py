"""A report as one self-contained HTML file: no script, nothing loaded, plots as SVG inside."""

import base64
from html import escape
from string import Template

from core.language import tr
from core.reports.drawing import PALETTE, Drawing, svg
from core.reports.model import Answer, Block, Cell, Code, Document, Items, Section, Table, Text, Tone
from core.reports.options import Logo, Options
from core.reports.words import instant
from core.text import code_spans

_STYLE = Template("""
body{font:15px/1.5 'IBM Plex Sans','Segoe UI','DejaVu Sans',sans-serif;color:$ink}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.9rem;margin:.2em 0}h2{margin-top:2em}h3{margin-top:1.5em;font-size:1.05rem}
table{border-collapse:collapse;width:100%;font-size:.85rem;margin:.8em 0 1.4em}
th{text-align:left;border-bottom:2px solid $ink}td,th{padding:.3em .6em .3em 0;vertical-align:top}
td{border-bottom:1px solid $rule;overflow-wrap:anywhere;white-space:pre-line}
.right{text-align:right;padding-right:.9em}.group td{background:$ground;font-weight:600}
.small,.question,.hint{color:$muted;font-size:.85rem}
.good{color:$good}.mixed{color:$mixed}.bad{color:$bad}.muted{color:$muted}strong{font-weight:600}
dl{border-top:2px solid $ink}dd{margin:0}dd strong{font-size:1.15rem}
dl div{display:grid;grid-template-columns:11rem 1fr;border-bottom:1px solid $rule;padding:.5em 0}
code{font-family:'IBM Plex Mono','DejaVu Sans Mono',monospace;font-size:.92em}
pre{background:$ground;padding:.6em;font-size:.78rem;white-space:pre-wrap;overflow-wrap:anywhere}
figure{margin:1em 0}svg{max-width:100%;height:auto}img{height:14mm;float:right}
@media print{body{max-width:none}h2{break-after:avoid}}
""").substitute(PALETTE)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MIME = {"png": "image/png", "jpg": "image/jpeg"}


def html(document: Document, options: Options) -> str:
    """The file's text."""
    head = (
        f'<!DOCTYPE html>\n<html lang="{document.language}">\n<head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(document.title)}: {_text(document.label)}</title><style>{_STYLE}</style></head>"
    )
    top = (
        f'<header>{_logo(options.logo, options.company)}<p class="small">{_text(options.company)}</p>'
        f'<p class="small">{_text(document.label)}, {_text(instant(document.made_at))}</p>'
        f'<h1>{_text(document.title)}</h1><p class="muted">{_text(document.subtitle)}</p></header>'
    )
    answers = f"<dl>{''.join(map(_answer, document.answers))}</dl>" if document.answers else ""
    numbered = list(enumerate(document.all_sections))
    links = "".join(f'<li><a href="#s{number}">{_text(section.title)}</a></li>' for number, section in numbered)
    body = "".join(_section(section, 2, f' id="s{number}"') for number, section in numbered)
    contents = f"<nav><h2>{_text(tr('Contents'))}</h2><ol>{links}</ol></nav>"
    foot = f'<footer class="small">{_text(document.program)}, {_text(instant(document.made_at))}</footer>'
    return f"{head}\n<body>{top}<main>{answers}{contents}{body}</main>{foot}</body>\n</html>\n"


def _text(text: str) -> str:
    """Text that no browser reads as markup, nor lets turn the direction of what stands behind it."""
    return "".join(_shown(letter) for letter in escape(text))


def _prose(text: str) -> str:
    """The same, its code as such."""
    return "".join(f"<code>{_text(part)}</code>" if is_code else _text(part) for part, is_code in code_spans(text))


def _shown(letter: str) -> str:
    turns = "\u202a" <= letter <= "\u202e" or "\u2066" <= letter <= "\u2069" or letter in "\u061c\u200e\u200f"
    control = (letter < " " and letter not in "\n\t") or "\x7f" <= letter <= "\x9f"
    return f"&lt;U+{ord(letter):04X}&gt;" if turns or control or "\ud800" <= letter <= "\udfff" else letter


def _logo(logo: Logo | None, company: str) -> str:
    if logo is None:
        return ""
    content = base64.b64encode(logo.content).decode()
    return f'<img alt="{_text(company or tr("Logo"))}" src="data:{_MIME[logo.format]};base64,{content}">'


def _answer(one: Answer) -> str:
    details = "".join(f"<br>{_prose(detail)}" for detail in one.details)
    words = f'<strong class="{one.tone.value}">{_text(one.words)}</strong>'
    return f'<div><dt class="question">{_text(one.question)}</dt><dd>{words}{details}</dd></div>'


def _section(section: Section, level: int, anchor: str = "") -> str:
    blocks = "".join(_block(block, level) for block in section.blocks)
    heading = f"h{min(level, 6)}"
    return f"<section{anchor}><{heading}>{_text(section.title)}</{heading}>{blocks}</section>\n"


def _block(block: Block, level: int) -> str:
    if isinstance(block, Section):
        return _section(block, level + 1)
    if isinstance(block, Text):
        return f'<p class="{"small" if block.small else block.tone.value}">{_prose(block.words)}</p>'
    if isinstance(block, Items):
        return f"<ul>{''.join(_item(one.title, one.words, one.hint, one.tone.value) for one in block.entries)}</ul>"
    if isinstance(block, Code):
        return f"<pre>{_text(block.words)}</pre>"
    if isinstance(block, Table):
        return _table(block)
    return f"<figure>{_drawing(block)}</figure>"


def _item(title: str, words: str, hint: str, tone: str) -> str:
    head = f'<strong class="{tone}">{_text(title)}:</strong> ' if title else ""
    below = f'<br><span class="hint">→ {_prose(hint)}</span>' if hint else ""
    return f"<li>{head}{_prose(words)}{below}</li>"


def _table(table: Table) -> str:
    right = [' class="right"' if number in table.right else "" for number in range(len(table.head))]
    head = "".join(f'<th scope="col"{right[number]}>{_text(text)}</th>' for number, text in enumerate(table.head))
    rows = []
    for row in table.rows:
        if len(row) == 1:
            rows.append(f'<tr class="group"><td colspan="{len(table.head)}">{_cell(row[0])}</td></tr>')
        else:
            cells = "".join(f"<td{right[number]}>{_cell(cell)}</td>" for number, cell in enumerate(row))
            rows.append(f"<tr>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return _text(cell)
    text = _prose(cell.text) if cell.is_prose else _text(cell.text)
    return text if cell.tone is Tone.PLAIN else f'<strong class="{cell.tone.value}">{text}</strong>'


def _drawing(plot: Drawing) -> str:
    return svg(plot, alone=False)
