"""Measuring the storage of a server: suites of workloads, and the runs that they make on a volume.

Each tool has one module or package with a pure parser and the phases of its workloads. `tool.py` is what a tool
declares, and `tools.py` lists all of them and recognises whose an output is. `suites.py` reads suites, and `runs.py`
repeats, watches and records what they contain. `folders.py` cleans up on the server, and `traffic.py` marks runs that
others have disturbed. A tool that needs more than its program in a phase has a function in
resources/sh/benchmark_tools.sh. If the module of a tool becomes long, it becomes a package with `output.py` and
`tool.py`. ARCHITECTURE.md says how a tool is added.
"""
