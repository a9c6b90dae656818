#!/bin/sh
# Lets git run the checks of .pre-commit-config.yaml before a commit. Left out in CI, outside a clone, where PGHAUL_NO_HOOKS=1
# says so, and where git is told to look for hooks elsewhere (core.hooksPath: those are somebody's own).
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh

[ "${CI:-}" != true ] && [ "${PGHAUL_NO_HOOKS:-}" != 1 ] && [ -e .git ] || exit 0
command -v git >/dev/null && [ -z "$(git config core.hooksPath)" ] || exit 0
grep -qs pre-commit "$(git rev-parse --git-path hooks/pre-commit)" && exit 0
say "installing the git hook that checks a commit"
PATH="$PWD/.venv/bin:$PWD/.venv/Scripts:$PATH" pre-commit install >/dev/null
