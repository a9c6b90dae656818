#!/bin/sh
# Installs Debian packages as root without starting, enabling or creating any service; see system-packages.sh.
#
#   sh installer/apt-install.sh PACKAGE...
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh

# Three doors through which an installation starts something, each closed while apt runs:
policy=/usr/sbin/policy-rc.d                                    # invoke-rc.d and deb-systemd-invoke ask it before a start
saved_policy=/usr/sbin/policy-rc.d.before-pghaul
preset=/run/systemd/system-preset/00-pghaul.preset              # systemd's units are not enabled for the next boot
cluster=/etc/postgresql-common/createcluster.d/pghaul.conf      # PostgreSQL's packages create no cluster 'main'

close_doors() {
    if [ -e "$policy" ] && [ ! -e "$saved_policy" ]; then mv "$policy" "$saved_policy"; fi
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made=
    for file in "$preset" "$cluster"; do
        folder=$(dirname "$file")
        while [ ! -d "$folder" ]; do
            made="$made $folder"
            folder=$(dirname "$folder")
        done
        mkdir -p "$(dirname "$file")"
    done
    echo 'disable *' >"$preset"
    echo 'create_main_cluster = false' >"$cluster"
}

open_doors() {
    rm -f "$policy" "$preset" "$cluster"
    if [ -e "$saved_policy" ]; then mv "$saved_policy" "$policy"; fi
    for folder in $made; do  # deepest first; one that a package has taken over stays
        dpkg-query -S "$folder" >/dev/null 2>&1 || rmdir "$folder" 2>/dev/null || true
    done
}

install_now() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
}

log=$(mktemp)
made=
trap 'open_doors; rm -f "$log"' EXIT
trap 'exit 130' HUP INT TERM
close_doors
# The lists of a fresh image are empty and those of an old one name files that are gone: in both cases fetch them and try again.
install_now "$@" && exit
if ! apt-get update --quiet -o DPkg::Lock::Timeout=300 >"$log" 2>&1 || ! install_now "$@"; then
    tail -n 15 "$log" >&2
    die "apt could not install these packages; the lines above are its own: is there a network, a proxy, a full disk?"
fi
