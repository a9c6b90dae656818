#!/bin/sh
# The tests as make test runs them: side by side, then by themselves those that measure, for a neighbour would be measured too.
#
#   sh tests/run.sh PYTHON WORKERS [PYTEST'S WORDS...]
set -u
python=$1 workers=$2
shift 2
usual='not clean_debian and not long and not nfs and not systemd'

# pytest ends with 5 where none of the tests asked for is of that kind
run() { "$python" -m pytest "$@" || [ $? -eq 5 ]; }

run -n "$workers" --dist loadfile --no-loadscope-reorder -m "$usual and not measures" "$@" || exit
# to load all the others would take as long as some of these
# shellcheck disable=SC2046 # their names hold no blanks
[ $# -gt 0 ] || set -- $(grep -rl --include='test_*.py' 'pytest[.]mark[.]measures' tests)
run -m "$usual and measures" "$@"
