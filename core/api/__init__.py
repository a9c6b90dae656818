"""The main job, one function an action: connect, do the work, record it. The command line and the window call these.

Each action takes a Session (whose history, whose questions, which connections are open) and, where it reaches a server,
a Job. Results are the frozen dataclasses of the package that did the work, in the history when the action returns.

A noun a module, and each is imported by its own name: who looks into the history loads no tool, no report, no route.
"""
