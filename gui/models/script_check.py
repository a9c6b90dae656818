"""The verdict on the dry run of a plan's script, as a sentence."""

from typing import TYPE_CHECKING

from core import units
from core.language import tr
from core.tones import Tone

if TYPE_CHECKING:
    from core.api.migration import ScriptCheck


def verdict(found: "ScriptCheck") -> tuple[str, Tone]:
    """Return the sentence and its tone."""
    if found.passed:
        said = tr("The script shows all {steps} steps of the move and {back} of the rollback. Nothing was run.")
        return said.format(steps=units.count(found.steps), back=units.count(found.way_back)), Tone.GOOD
    if found.missing:
        return tr("The script lacks steps: {numbers}.").format(numbers=", ".join(map(str, found.missing))), Tone.BAD
    return tr("The script failed: {error}").format(error=found.error or found.exit_status), Tone.BAD
