"""The steps of a plan, by their part of it: prepare, copy, open. Each is a draft until the plan numbers it."""
