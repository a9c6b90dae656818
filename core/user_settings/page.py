"""The documentation page of the settings: `python -m core.user_settings.page >docs/settings.md`."""

import sys

from core.user_settings.declaration import SECTIONS, Setting, declared
from core.user_settings.kinds import said

_HEAD = """\
# Settings

Your settings for pghaul on this workstation are in `settings.toml`, in `~/.config/pghaul` on Linux. `PGHAUL_CONFIG`
names another folder. An option of a command takes precedence over the file, and the file over the default.

- In the window, the dialog **Settings** (Ctrl+,) shows and changes all of them.
- On the command line, `pghaul settings show` prints them, `pghaul settings set KEY VALUE` changes one,
  `pghaul settings unset KEY` restores its default, and `pghaul settings path` prints the path of the file.
- You can also edit the file yourself. pghaul keeps your comments.

```toml
# for reports to customers
[report]
company = "Example Ltd"
paper = "letter"

[move]
precopy_limit = 50
```

The file must be TOML in UTF-8, of at most 64 KiB, and yours: nobody else may be allowed to write to it or to its
folder. If it cannot be used, the command line says why and does nothing. The window says why, and goes on with the
defaults. `python -m core.user_settings.page` generates this page.
"""


def page() -> str:
    """Return the page as Markdown, with a table for each section."""
    return _HEAD + "".join(map(_section, SECTIONS))


def _section(section: str) -> str:
    rows = [_row(each) for each in declared().values() if each.section == section]
    return (
        f"\n## {SECTIONS[section]}: `[{section}]`\n\n"
        "| setting | meaning | default | allowed |\n| --- | --- | --- | --- |\n" + "".join(rows)
    )


def _row(setting: Setting) -> str:
    default = setting.declaration.absent if setting.default is None else f"`{said(setting.default)}`"
    return f"| `{setting.name}` | {setting.declaration.text} | {default} | {setting.kind.describe()} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
