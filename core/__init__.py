"""Everything that pghaul does, without the window. It knows neither Qt nor `gui`.

The packages stand in the order of the work: servers, facts, benchmarks, comparison, migration, history, reports; then
api, and cli. Each imports only those before it, as ARCHITECTURE.md shows.
"""
