#!/bin/busybox sh
# The first process of a virtual machine. Its root is a disk of its own, as NFS version 4 begins at a root that can be
# exported, which an overlay cannot. /etc, /usr, /var and /opt are overlays of this machine's, read over 9p, and of what
# lab's Python wrote for it alone. The kernel and its modules come from the cache: @kernel@.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod "$module"; done
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /lower
mount -t ext4 /dev/vda /root || exec poweroff -f
cd /root || exec poweroff -f
for entry in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/lower/$entry" ]; then cp -d "/lower/$entry" .; fi
done
mkdir boot dev mnt proc srv sys tmp run
for folder in etc usr var opt; do
  mkdir -p "up/$folder" "work/$folder" "$folder"
  mount -t overlay "pghaul-$folder" -o "lowerdir=/lower/$folder,upperdir=up/$folder,workdir=work/$folder" "$folder"
done
mv up/home up/root .
mkdir -p usr/lib/modules
mount --bind "/lower@kernel@/lib/modules" usr/lib/modules
mount --bind "/lower@kernel@/boot" boot
for folder in proc sys dev; do mount --move "/$folder" "$folder"; done
exec switch_root /root /bin/sh /etc/lab/machine.sh
