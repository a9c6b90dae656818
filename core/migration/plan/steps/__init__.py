"""The steps of a plan, by their part of it: prepare, copy, open. Each is a step until the plan numbers it."""
