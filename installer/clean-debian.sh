#!/bin/sh
# A clean Debian 12 in a folder, to try set-up and package where nothing is prepared. Needs root and debootstrap.
#
#   sh installer/clean-debian.sh new ROOT           make ROOT: minimal Debian with git, make and Python 3.11, nothing else
#   sh installer/clean-debian.sh run ROOT COMMAND...   run a command in it as root, from its /root
#   sh installer/clean-debian.sh remove ROOT        remove it again
#
# What debootstrap makes is kept in installer/build/clean-debian, so that the second root takes seconds.
# A command runs in mount and process namespaces of its own: its mounts and its processes end with it, however it ends.
# It has the machine's network, and this machine's certificates, so that package clients work behind a proxy too.
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh
base=$PWD/installer/build/clean-debian
certificates=/etc/ssl/certs/ca-certificates.crt

make_base() {
    [ -d "$base" ] && return
    say "making a clean Debian 12 in $base"
    rm -rf "$base.part"
    mkdir -p "$base.part"
    debootstrap --variant=minbase --include=git,make,python3,ca-certificates bookworm "$base.part" >"$base.log" ||
        { tail -n 5 "$base.log" >&2; die "debootstrap failed; the lines above are its own"; }
    mv "$base.part" "$base"
}

# Process 1 of the namespaces: makes ROOT the root, then runs the command.
enter() {
    root=$1
    shift
    mount --rbind "$root" "$root"
    cd "$root"
    mount -t proc proc proc
    mount --rbind /dev dev
    mount --rbind /sys sys
    mkdir -p .machine
    pivot_root . .machine
    cd /root
    umount -l /.machine
    rmdir /.machine
    exec "$@"
}

run_inside() {
    root=$1
    shift
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    set -- HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
    if [ -e "$certificates" ]; then
        cp "$certificates" "$root/etc/ssl/machine.crt"
        set -- PIP_CERT=/etc/ssl/machine.crt SSL_CERT_FILE=/etc/ssl/machine.crt NODE_EXTRA_CA_CERTS=/etc/ssl/machine.crt "$@"
    fi
    for name in http_proxy https_proxy no_proxy CI; do
        value=$(printenv "$name") && set -- "$name=$value" "$@"
    done
    exec unshare --mount --pid --fork --kill-child --propagation private \
        sh installer/clean-debian.sh enter "$root" env -i "$@"
}

action=${1:-}
[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
shift
case $1 in /*) ;; *) die "ROOT is an absolute path, not '$1'" ;; esac
case $action in
new)
    [ ! -e "$1" ] || die "$1 is there already"
    make_base
    cp -a "$base" "$1"
    ;;
run) run_inside "$@" ;;
enter) enter "$@" ;;
remove)
    [ -e "$1/etc/debian_version" ] || die "$1 holds no Debian"
    rm -rf --one-file-system "$1"
    ;;
*) die "clean-debian.sh knows new, run and remove, not '$action'" ;;
esac
