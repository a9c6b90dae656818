# What makes a lab host of a root and a data disk: its users, what its side prepares, its two sshd. Sourced as root by
# the first process of a host in namespaces (init.sh) and of a virtual machine (machine.sh).
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
