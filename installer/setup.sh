#!/bin/sh
# All set-up, for a fresh Debian 12 machine and, idempotently, for one that has it all (then it takes about a second).
#
#   sh installer/setup.sh            to run pghaul and to check its code
#   sh installer/setup.sh lab        also what the tests and the demo need
#   sh installer/setup.sh pdf        also what holds reports against the standards of PDF
#   sh installer/setup.sh nfs        also what the tests in virtual machines need
#   sh installer/setup.sh systemd    also what the tests on hosts with systemd need
#   sh installer/setup.sh package    also what building the packages needs
#
# Elsewhere than on Debian the system packages are left to whoever keeps the machine; .venv is made all the same.
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh

lists="installer/packages-python.txt installer/packages-qt.txt"
case ${1:-} in
'') ;;
lab) lists="$lists installer/packages-tests.txt tests/lab/packages.txt" ;;
pdf) lists="$lists tests/verapdf/packages.txt" ;;
nfs) lists="$lists installer/packages-tests.txt tests/lab/packages.txt tests/lab/packages-machines.txt" ;;
systemd) lists="$lists installer/packages-tests.txt tests/lab/packages.txt tests/lab/packages-systemd.txt" ;;
package) lists="$lists installer/packages-tests.txt installer/packages-build.txt" ;;
*) die "setup.sh knows 'lab', 'pdf', 'nfs', 'systemd' and 'package', not '$1'" ;;
esac

# shellcheck disable=SC2086
if ! is_debian; then
    say "this is no Debian: system packages are left alone, see installer/packages-*.txt for what Qt and the tests need"
elif has_root; then
    sh installer/system-packages.sh $lists
else
    sh installer/system-packages.sh $lists || say "going on without them"
fi
sh installer/environment.sh
sh installer/git-hooks.sh
