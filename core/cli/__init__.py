"""The command line: one noun in each module, with its arguments and its text for people.

It calls `core.api` only. `outputs.py` has the types of the JSON documents. `manual` makes manual pages, completion and
reference from the parser.
"""
