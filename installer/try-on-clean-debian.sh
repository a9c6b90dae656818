#!/bin/sh
# Clones this repository, as committed, into a clean Debian 12 and runs a command in the clone: the proof that the
# commands of the README need nothing prepared. Removes all of it afterwards. Needs root and debootstrap.
#
#   sh installer/try-on-clean-debian.sh                       make setup check
#   sh installer/try-on-clean-debian.sh make demo
#   sh installer/try-on-clean-debian.sh sh -c 'make test; …'
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh
[ "$(id -u)" -eq 0 ] || die "only root can make a clean Debian to try this on"
[ $# -gt 0 ] || set -- make setup check

folder=$(mktemp -d /var/tmp/pghaul-clean.XXXXXX)
trap 'rm -rf --one-file-system "$folder"' EXIT
trap 'exit 130' HUP INT TERM
sh installer/clean-debian.sh new "$folder/root"
git clone --quiet --no-local . "$folder/root/root/pghaul"
sh installer/clean-debian.sh run "$folder/root" sh -c 'cd pghaul && exec "$@"' sh "$@"
