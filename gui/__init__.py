"""The window of pghaul: pages, models, widgets and dialogs over core, and the bridge to its threads.

The window has a list of steps at the left, the page beside it, a banner above both, and the running job below. Every
page reads the history on a thread when it is shown and something may have changed (`Page`). It starts the one long job
(`Work`), and has no state of its own.

1. A page is one class and its line in `PAGES` (`pages/kinds.py`), which loads its module when the page is first shown.
   It has an `id` (`destinations.py`), by which all code refers to it, and a `title`, which is only shown. Its
   `milestone` gives the mark beside it in the list, or is None for a page outside the sequence of steps. `primary` is
   the button for its own work. A `PartPage` has a summary and that button: `read`, `act`, `show_part`. `ToyPage` in
   tests/gui/test_move_milestones.py is the shortest one. tests/gui/start.py lists what the first paint must do
   without. Import a dialog where it is opened. `core.api` loads the module of a noun when it is first used, as
   `api.moves.…`: use it so on the threads of the bridge.
2. The state of a move is computed in core, once. `core/migration/standing.py` is pure. It uses what
   `core/api/moves.py` reads, and returns each milestone with its condition, age and words, and the step that comes
   next. The list, Next, the cards of the page Moves and `pghaul move show` show the same. `controllers/moves.py` holds
   it for the selected move. Next leads to the page. On that page it presses `primary`.
3. An unfinished execution is on every page. `core/migration/execution/status.py` says how it stands, and what may
   be done with it. `ExecutionPoller` reads this every second, whichever program carries the execution out, and with
   it what the visible page shows (`watch`), all as of one time. `ActiveExecutions` passes it to the `StatusBanner`.
   `ExecutionController` is the one place that begins, continues, cancels and rolls back.
4. An execution asks in the page (`PromptPanel`, its texts in `models/prompts.py`). A connection asks in a dialog, since
   nothing can go on without the answer.
5. Models are pure: rows of frozen dataclasses, and columns as declared data (`models/table.py`). `models/steps.py`
   groups the steps of a plan by the parts of the night. Name a new model in tests/gui/test_sound_models.py. A colour
   never stands alone: a word or a shape says the same.
6. What is remembered (`remembered.py`: geometry, page, move, theme, sizes, columns) is a file beside the history. It is
   used where it fits. A window without such a file remembers nothing, as in tests. `controllers/menus.py` makes all
   actions. The command palette lists them.
7. A chart is data (`models/chart.py`; `models/charts.py` says what each shows). `widgets/chart.py` paints it in one go.
   Showing another chart takes about a millisecond, so pictures never block the window.
8. `make screenshots` draws every page under Xvfb with a window manager, on screens of each size and scale, in light and
   dark (tests/gui/pictures.py). Look at them. tests/lab/cockpit.py takes the picture of the README, of a measurement in
   the lab.
9. The window speaks the chosen language (`language.py`, at start), by the catalogues of the reports; `core/language.py`
   says how a text gets there. Sentences from core go through `models/sentences.py`. What work records stays English,
   since its threads have no language. tests/gui/test_texts.py finds texts that no catalogue would get. No code
   recognises anything by the words that it shows: pages, questions, choices and rows have ids.
10. What core tells a user to type, the window names by its button (`use_window_terms` in `models/words.py`).
    `models/sentences.py` does that for every sentence of core.

Threads, besides the rules of `core/jobs.py`:

- Only `bridge.py` starts threads. Work goes to one pool. Events come back in batches, by one queued signal. Byte counts
  travel as `object`. The handle of a job lives until its work has ended, also while the window closes.
- While the window lives, cyclic garbage is collected on its own thread only (`collector.py`). A Qt object that is freed
  on another thread would take its timers with it.
- No Python exception reaches Qt. Each class that overrides something of Qt's derives from `Guarded` (`guard.py`).
  tests/gui/test_guard.py requires that. Exceptions there, in a slot or on a thread reach `Catcher` (`app.py`), which
  reports each place once. `last_time.py` keeps the report for the next start.
"""
