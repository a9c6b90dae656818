#!/bin/sh
# Installs the Debian packages named in lists, only those that are missing, and says which.
#
#   sh installer/system-packages.sh LIST...
#
# A list holds one package a line; '#' starts a comment. Root or sudo is needed only when something is missing.
# Nothing is started or enabled by an installation: no sshd, no PostgreSQL cluster, no NFS server. What is put in place to
# prevent that is taken away again, also after a failure or an interrupt.
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh

wanted() {
    sed 's/#.*//' "$@" | tr -s ' \t' '\n' | sed '/^$/d' | sort -u
}

# The wanted packages that are not installed. dpkg-query exits 1 when it does not know one of the names: that is an answer.
missing() {
    names=$(wanted "$@")
    # shellcheck disable=SC2086  # package names hold no blanks
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $names 2>/dev/null | sed -n 's/^installed //p' | sort -u) || true
    printf '%s\n' "$names" | grep -vxF -e "$installed" || true
}

missing=$(missing "$@" | tr '\n' ' ')
[ -n "$missing" ] || exit 0
has_root || die "these Debian packages are missing and you are not root and cannot use sudo; ask for: apt-get install $missing"

say "installing Debian packages: $missing"
# shellcheck disable=SC2086
as_root sh installer/apt-install.sh $missing
