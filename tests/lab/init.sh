#!/bin/sh
# The first process of a lab host, in its own mount, network, PID, IPC and UTS namespaces:
# init.sh FOLDER NAME DEVICE FILESYSTEM. FOLDER/up holds what lab's Python wrote for this host alone.
set -eu
folder=$1 name=$2 device=$3 filesystem=$4
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 022
cd "$folder"
mount -t overlay "pghaul-$name" -o "lowerdir=/,upperdir=$folder/up,workdir=$folder/work" root
mkdir -p root/srv/pg
mount -t "$filesystem" "$device" root/srv/pg
cd root
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t proc proc proc
mount -t sysfs sysfs sys
mkdir -p old_root
pivot_root . old_root
cd /
umount -l /old_root
rmdir /old_root
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd /run/lock
hostname "$name"

. /etc/lab/host.sh
# CHLD ignored: the kernel itself buries the orphans that end here.
exec env --ignore-signal=CHLD sleep infinity
