"""What the targets are fed: garbage, and real outputs with pieces cut out, doubled, exchanged and stretched."""

from collections.abc import Sequence

from hypothesis import strategies as st

_PIECES = (
    *(
        b"\n",
        b"\r",
        b"\0",
        b" ",
        b"\t",
        b"=",
        b":",
        b",",
        b"|",
        b"/",
        b"\\",
        b'"',
        b"'",
        b"(",
        b")",
        b"[",
        b"]",
        b"{",
        b"}",
    ),
    *(b"%", b"-", b".", b"9" * 30, b"9" * 5000, b"-1", b"1e999", b"nan", b"0x10", b"1_000", b"a" * 300, b"\xff"),
    *("²٣½：".encode(), "\u202e\u2066".encode(), b"\x1b[31m", b"null", b"true", b"$(x)", b"../", b"\xed\xa0\x80"),
    *(b"PostgreSQL 15.5", b"md0 : active ", b"series=15\n", b"begin ", b" end 0\n", b"bytes 5\n", b"0/5000028"),
)
LENGTHS = (1000, 20_000)
"""Of what is stretched: what takes the square of that is seen by the time it takes."""

garbage = st.lists(st.one_of(st.sampled_from(_PIECES), st.binary(max_size=8)), max_size=25).map(b"".join)
_stretched = st.builds(
    lambda piece, length: piece * (length // len(piece)),
    st.one_of(st.sampled_from([piece for piece in _PIECES if len(piece) < 9]), st.binary(min_size=1, max_size=3)),
    st.sampled_from(LENGTHS),
)


@st.composite
def damaged(draw: st.DrawFn, samples: Sequence[bytes]) -> bytes:
    """A real output that was cut, doubled, exchanged and stretched at a few places."""
    text = draw(st.sampled_from(list(samples)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from((0, 0, 1, 2, 8, 60, 1000))))
        stretched = text[start : start + 1] * draw(st.sampled_from(LENGTHS))
        put = draw(st.one_of(garbage, _stretched, st.just(stretched), st.just(text[start:end] * 2), st.just(b"")))
        text = text[:start] + put + text[end:]
    return text


def of(samples: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Inputs for a target with these samples."""
    made = [garbage, st.builds(lambda *parts: b"".join(parts), garbage, _stretched, garbage)]
    return st.one_of(*([damaged(samples), damaged(samples)] if samples else []), *made)
