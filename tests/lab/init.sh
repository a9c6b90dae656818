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

add_user() {
  id "$1" >/dev/null 2>&1 || useradd -m -k /etc/skel -s /bin/bash "$1"
  mkdir -p "/home/$1/.ssh"
  cp /etc/lab/authorized_keys "/home/$1/.ssh/authorized_keys"
  chown -R "$1:" "/home/$1"
  chmod 700 "/home/$1/.ssh"
  chmod 600 "/home/$1/.ssh/authorized_keys"
}
for user in dba plain pgonly nosudo; do add_user "$user"; done
chpasswd </etc/lab/passwords
. /etc/lab/prepare.sh
rm -r /etc/lab

/usr/sbin/sshd -E /var/log/sshd.log
/usr/sbin/sshd -E /var/log/sshd.log -f /etc/ssh/sshd_interactive_config
# CHLD ignored: the kernel itself buries the orphans that end here.
exec env --ignore-signal=CHLD sleep infinity
