#!/bin/sh
# Runs a command that uses the lab of two hosts, as root, through sudo where needed. Where the machine cannot host the lab,
# says so in one line and runs the command in WITHOUT_LAB instead, if there is one.
#
#   WITHOUT_LAB='COMMAND' sh installer/with-lab.sh COMMAND...
set -eu
cd "$(dirname "$0")/.."
. installer/machine.sh

obstacle=$(lab_obstacle)
if [ -z "$obstacle" ]; then obstacle=$(as_root .venv/bin/python -m tests.lab.machine); fi
if [ -n "$obstacle" ]; then
    say "this machine cannot host the lab, because $obstacle; doing what works without it"
    eval "${WITHOUT_LAB:-}"
    exit
fi

# What a command run through sudo leaves in the work tree in root's name is handed back, however the command ends.
give_back() {
    sudo find . -xdev -user root -exec chown -h "$(id -u):$(id -g)" {} +
}
if [ "$(id -u)" -ne 0 ]; then trap give_back EXIT; fi
as_root "$@"
