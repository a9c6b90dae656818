# What follows the initrd in a virtual machine: a network, a data disk, and what every lab host has. /etc/lab/machine
# holds its name, address, gateway and the file system of its data disk.
set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 022
read -r name address gateway filesystem </etc/lab/machine
mkdir -p /dev/pts /dev/shm /srv/pg
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd /run/lock /run/mount
: >/run/mount/utab # mount(8) keeps it, and its lock, once anything was mounted
: >/run/mount/utab.lock
modprobe virtio_net
modprobe "$filesystem"
mount -t "$filesystem" /dev/vdb /srv/pg
hostname "$name"
ip link set lo up
ip addr add "$address/24" dev eth0
ip link set eth0 up
ip route add default via "$gateway"
. /etc/lab/host.sh
/usr/sbin/sshd -f /etc/ssh/sshd_lab_config # past the others, for root
exec env --ignore-signal=CHLD sleep infinity
