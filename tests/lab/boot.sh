#!/bin/sh
# The first process of a lab host with systemd, in its own mount, network, PID, IPC and UTS namespaces:
# boot.sh FOLDER NAME DEVICE FILESYSTEM BASE. FOLDER/up holds what differs from BASE, a Debian; it outlives a power cut.
# It becomes the container's supervisor: what mounts and namespaces the host has end with it.
set -eu
folder=$1 name=$2 device=$3 filesystem=$4 base=$5
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 022
cd "$folder"
mount -t proc proc /proc
mount -t tmpfs tmpfs /run # the supervisor's own, as is /tmp
mount -t tmpfs tmpfs /tmp
mount -t overlay "pghaul-$name" -o "lowerdir=$base,upperdir=$folder/up,workdir=$folder/work" root
mount -t "$filesystem" "$device" data
# no registration with this machine's service manager, which may be none; its network is the one that was laid here
exec systemd-nspawn --quiet --boot --directory=root --machine="$name" --register=no --keep-unit \
  --network-namespace-path=/proc/self/ns/net --bind="$folder/data:/srv/pg" \
  --resolv-conf=off --timezone=off --link-journal=no --console=pipe </dev/null
