#!/bin/busybox sh
# The first process of a virtual machine: its root is an overlay of this machine's root, read over 9p, and of its own
# disk, which holds what lab's Python wrote for it alone. The kernel's modules come from the cache: @modules@.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod "$module"; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /lower
mount -t ext4 /dev/vda /own
mkdir /own/work
mount -t overlay pghaul -o lowerdir=/lower,upperdir=/own/up,workdir=/own/work /root || exec poweroff -f
mkdir -p /root/usr/lib/modules
mount --bind "/lower@modules@" /root/usr/lib/modules
mount --move /proc /root/proc
mount --move /sys /root/sys
mount --move /dev /root/dev
exec switch_root /root /bin/sh /etc/lab/machine.sh
