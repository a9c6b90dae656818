# shellcheck shell=sh
# What this machine is and may do. Sourced by the other scripts of this folder, never run by itself; POSIX sh.
#
# say TEXT            one line about what is being done
# die TEXT            one line about what went wrong, then the end with status 1
# is_debian           whether system packages can be installed with apt
# has_root            whether commands can be run as root: by being root, by sudo without a question, or by sudo on a terminal
# as_root COMMAND...  run a command as root
# lab_obstacle        print why this machine cannot host the lab of two hosts; nothing when it can

say() {
    printf 'pghaul: %s\n' "$*"
}

die() {
    printf 'pghaul: %s\n' "$*" >&2
    exit 1
}

is_debian() {
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null
}

has_root() {
    [ "$(id -u)" -eq 0 ] && return
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null || [ -t 0 ]
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -E env PATH="$PATH:/usr/sbin:/sbin" HOME="$HOME" "$@"
    fi
}

lab_obstacle() {
    if [ "$(uname -s)" != Linux ]; then
        echo "it does not run Linux"
    elif ! has_root; then
        echo "you are not root and cannot use sudo"
    elif ! is_debian; then
        echo "it has no apt to install the lab's packages with"
    elif ! as_root unshare --mount --net --pid --fork true 2>/dev/null; then
        echo "root may not make namespaces here, as in a container"
    fi
}
