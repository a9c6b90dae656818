# The mount of a copy: NFS is served and exported on the new server and mounted on the old server, by root, and removed
# afterwards. STATE is below /run: on the new server it says what was started there. On the old server it contains the
# mounts, and only the group of its owner may enter it.

# serve_nfs STATE VERSION OPTION...   On the new server: start an NFS server by rpc.nfsd with OPTION..., if none is
# running. STATE records what was started. Locks of earlier clients are not waited for: version 4 ends its grace period
# at once.
serve_nfs() {
  make_private_folder "$1"
  mount_nfsd "$1"
  serve_threads=$(cat /proc/fs/nfsd/threads) ||
    fail 'the kernel of the new server does not report whether it serves NFS'
  if [ "$serve_threads" -gt 0 ]; then
    echo 'An NFS server is already running on the new server.'
    return
  fi
  if [ "$2" = 3 ]; then serve_rpcbind "$1" /run; fi
  : >"$1/nfsd" || fail "$1 cannot be written"
  (shift 2 && rpc.nfsd "$@" 8) || fail 'rpc.nfsd cannot start the NFS server'
  if [ "$2" = 3 ]; then
    start_if_not_running "$1" rpc.mountd --foreground
  else
    echo Y | tee /proc/fs/nfsd/v4_end_grace >/dev/null || fail 'the grace period of the NFS server cannot be ended'
    start_if_not_running "$1" rpc.mountd --foreground -N 2 -N 3
  fi
}

# mount_nfsd STATE   Load the kernel's side of an NFS server, if it is not there yet.
mount_nfsd() {
  ! is_mounted /proc/fs/nfsd nfsd || return 0
  modprobe nfsd || fail 'the kernel of the new server cannot serve NFS, because it has no module nfsd'
  : >"$1/mounted" || fail "$1 cannot be written"
  mount -t nfsd nfsd /proc/fs/nfsd || {
    rm -f -- "$1/mounted"
    fail '/proc/fs/nfsd cannot be mounted'
  }
}

# serve_rpcbind STATE RUN   Start rpcbind, which version 3 needs for its ports, if none is running; RUN is the folder of
# its socket.
serve_rpcbind() {
  [ ! -e "$2/rpcbind.sock" ] || return 0
  if [ ! -d "$2/rpcbind" ]; then
    mkdir -m 755 -- "$2/rpcbind" || fail "$2/rpcbind cannot be created"
    printf '%s\n' "$2" >"$1/names" || fail "$1 cannot be written"
  fi
  start_detached "$1" rpcbind -f
  names_tries=0
  until [ -e "$2/rpcbind.sock" ]; do
    names_tries=$((names_tries + 1))
    [ "$names_tries" -lt 100 ] || fail 'rpcbind is running, but its socket does not appear'
    sleep 0.1 || fail 'the program sleep is missing'
  done
}

# start_if_not_running STATE PROGRAM [WORD]...   Start_detached, unless a process of that name is running.
start_if_not_running() {
  pidof "$2" >/dev/null
  case $? in
    0) ;;
    1) start_detached "$@" ;;
    *) fail "pidof failed, so it is not known whether $2 is running" ;;
  esac
}

# start_detached STATE PROGRAM [WORD]...   Start it detached, with its process id and start time in STATE/PROGRAM; fail
# if it ends at once.
start_detached() {
  detached_file=$1/$2
  shift
  setsid "$@" </dev/null >/dev/null 2>&1 &
  detached_since=$(process_start "$!") || exit
  printf '%s\n' "$! $detached_since" >"$detached_file" || fail "$detached_file cannot be written"
  sleep 0.2 || fail 'the program sleep is missing'
  kill -s 0 "$!" 2>/dev/null || fail "$1 ended at once. Run it by hand to see why"
}

# stop_nfs STATE   On the new server: stop what serve_nfs has started; do nothing if a server was running before.
stop_nfs() {
  [ -d "$1" ] || return 0
  if [ -e "$1/nfsd" ]; then rpc.nfsd 0 || fail 'rpc.nfsd cannot stop the NFS server'; fi
  end_detached "$1" rpc.mountd
  end_detached "$1" rpcbind
  if [ -e "$1/mounted" ]; then umount /proc/fs/nfsd || fail '/proc/fs/nfsd cannot be unmounted'; fi
  if [ -e "$1/names" ]; then
    read -r stop_run <"$1/names" || fail "$1/names cannot be read"
    rm -rf -- "$stop_run/rpcbind" "$stop_run/rpcbind.sock" "$stop_run/rpcbind.lock" ||
      fail "the files of rpcbind in $stop_run cannot be removed"
  fi
  (enter_folder "$1" && rm -f -- nfsd rpc.mountd rpcbind mounted names && rmdir -- "$1") || fail "$1 cannot be removed"
}

# end_detached STATE PROGRAM   End what start_detached has started, if it is still running.
end_detached() {
  [ -s "$1/$2" ] || return 0
  read -r detached_process detached_since <"$1/$2" || fail "$1/$2 cannot be read"
  # The process ID may belong to another process by now. rpcbind changes its user after its start.
  read -r detached_name 2>/dev/null <"/proc/$detached_process/comm" || return 0
  detached_begun=$(process_start "$detached_process") || exit
  [ "$detached_name" != "$2" ] || [ "$detached_begun" != "$detached_since" ] || end_group "$detached_process" 100
}

# print_source_address HOST   On the old server: print the source address that its kernel uses towards HOST.
print_source_address() {
  source_found=$(getent ahosts "$1") || fail "the old server cannot resolve the address of $1"
  source_route=$(ip -o route get "${source_found%% *}") || fail "the old server has no route to $1"
  case $source_route in
    *' src '*) ;;
    *) fail "the route to $1 contains no source address of the old server: $source_route" ;;
  esac
  source_route=${source_route#* src }
  printf '%s\n' "${source_route%% *}"
}

# export_targets WRITER OPTIONS CLIENTS [FSID TARGET]...   On the new server: export each TARGET to one of CLIENTS; all
# files will belong to WRITER. Standard input is the address from which the old server connects. If TARGET is a part of
# a file system, a made-up file handle gives no access to the rest of it.
export_targets() {
  export_user=$(id -u -- "$1") || fail "the new server has no user $1"
  export_group=$(id -g -- "$1") || fail "the user $1 on the new server has no group"
  export_options=$2,anonuid=$export_user,anongid=$export_group
  read -r export_address || fail 'the address of the old server is missing: nothing was exported'
  export_client=
  for export_known in $3; do
    case $export_known in
      "$export_address" | "[$export_address]") export_client=$export_known ;;
      *) ;;
    esac
  done
  [ -n "$export_client" ] ||
    fail "the old server connects from $export_address, which its facts do not contain: nothing was exported"
  shift 3
  while [ $# -gt 1 ]; do
    refuse_mounts_below "$2"
    export_check=subtree_check
    if mountpoint -q -- "$2"; then export_check=no_subtree_check; fi
    export_target "$2" "$export_client" "$1" "$export_options,$export_check"
    shift 2
  done
}

# refuse_mounts_below FOLDER   Fail if a file system is mounted below it: over NFS, files would be written to its mount
# point.
refuse_mounts_below() {
  below_all=$(list_mounts) || exit
  while read -r below_type below_folder; do
    case $below_folder in
      "$1"/*) fail "$below_folder is a separate file system ($below_type), which cannot be reached over NFS" ;;
      *) ;;
    esac
  done <<MOUNTS
$below_all
MOUNTS
}

# export_target TARGET CLIENT FSID OPTIONS   Export it; fail if another program exports it to CLIENT already.
export_target() {
  export_name=${2#\[}
  export_name=${export_name%\]} # as exportfs has it: without the brackets of IPv6
  export_all=$(exportfs -s) || fail 'exportfs does not list the exports of the new server'
  while read -r export_line; do
    export_folder=$(printf '%b' "${export_line%%  "$export_name("*}")
    case $export_line in
      *"fsid=$3"*) ;;
      *) [ "$export_folder" != "$1" ] || fail "this folder is already exported by another program: $export_line" ;;
    esac
  done <<EXPORTS
$export_all
EXPORTS
  exportfs -o "$4,fsid=$3" "$2:$1" || fail "exportfs cannot export $1 to $2"
}

# unexport_targets CLIENTS [FSID TARGET]...   On the new server: end the exports of this copy.
unexport_targets() {
  command -v exportfs >/dev/null || return 0 # where there is none nothing was exported
  unexport_clients=$1
  shift
  while [ $# -gt 1 ]; do
    for unexport_client in $unexport_clients; do unexport_target "$2" "$unexport_client" "$1"; done
    shift 2
  done
}

# unexport_target TARGET CLIENT FSID   End its export; one with another FSID belongs to another program.
unexport_target() {
  unexport_name=${2#\[}
  unexport_name=${unexport_name%\]}
  unexport_all=$(exportfs -s) || fail 'exportfs does not list the exports of the new server'
  while read -r unexport_line; do
    case $unexport_line in
      *"  $unexport_name("*"fsid=$3"*) exportfs -u "$2:$1" || fail "exportfs cannot end the export of $1 to $2" ;;
      *) ;;
    esac
  done <<EXPORTS
$unexport_all
EXPORTS
}

# mount_targets STATE OWNER OPTIONS [LABEL SOURCE]...   On the old server: mount each SOURCE as STATE/LABEL, with access
# for the group of OWNER only. Earlier mounts there are replaced.
mount_targets() {
  [ -d "${1%/*}" ] || fail "the folder ${1%/*}, which contains the mount points, does not exist"
  # It belongs to root: in a folder of OWNER, a link could take the place of the mount point.
  mount_group=$(id -g -- "$2") || fail "the old server has no user $2"
  install -d -m 0710 -g "$mount_group" -- "$1" || fail "$1 cannot be created for $2"
  mount_state=$1 mount_options=$3
  shift 3
  while [ $# -gt 1 ]; do
    mount_target "$mount_state/$1" "$2" "$mount_options"
    shift 2
  done
}

# mount_target FOLDER SOURCE OPTIONS   Mount SOURCE on FOLDER. An earlier mount there is replaced.
mount_target() {
  unmount_target "$1"
  mkdir -m 0555 -- "$1" || fail "$1 cannot be created"
  timeout -k 2 60 mount -t nfs -o "$3" "$2" "$1"
  case $? in
    0) ;;
    124 | 137) fail "$2 did not answer the old server within 60 seconds: is there a firewall between the servers?" ;;
    *) fail "$2 cannot be mounted on the old server" ;;
  esac
}

# unmount_targets STATE LABEL...   On the old server: unmount everything in STATE, and remove STATE.
unmount_targets() {
  unmount_state=$1
  shift
  for unmount_label; do unmount_target "$unmount_state/$unmount_label"; done
  [ ! -d "$unmount_state" ] || rmdir -- "$unmount_state" || fail "$unmount_state cannot be removed"
}

# unmount_target FOLDER   Unmount NFS from FOLDER and remove FOLDER; print a warning if it can only be detached lazily.
# It does not wait for a server that does not answer. Lazy unmounting ends whatever waits for that server.
unmount_target() {
  unmount_tries=0
  while is_mounted "$1" nfs nfs4 && [ "$unmount_tries" -lt 25 ] && nfs_answers "$1"; do
    umount -- "$1" 2>/dev/null || sleep 0.2 || fail 'the program sleep is missing'
    unmount_tries=$((unmount_tries + 1))
  done
  if is_mounted "$1" nfs nfs4 && ! umount -i -f -- "$1" 2>/dev/null; then
    umount -i -l -- "$1" || fail "$1 cannot be unmounted"
    echo "warning: $1 was busy, or the new server does not answer. It will be unmounted when it is no longer in use."
  fi
  [ ! -d "$1" ] || rmdir -- "$1" || fail "$1 cannot be removed"
}

# nfs_answers FOLDER   Succeed if the NFS server of that mount answers within ten seconds.
nfs_answers() {
  timeout -k 1 10 stat -f -- "$1" >/dev/null 2>&1
}

# is_mounted FOLDER TYPE...   Succeed if a file system of one of these types is mounted there.
is_mounted() {
  mounted_folder=$1
  shift
  mounted_all=$(list_mounts) || exit
  for mounted_type; do
    case "
$mounted_all
" in
      *"
$mounted_type $mounted_folder
"*) return 0 ;;
      *) ;;
    esac
  done
  return 1
}

# list_mounts   Print the type and the folder of each mount, one per line.
list_mounts() {
  mounts_read=$(cat /proc/mounts) || fail '/proc/mounts cannot be read'
  while read -r _ mounts_folder mounts_type _; do
    printf '%s %b\n' "$mounts_type" "$mounts_folder" || fail 'the list of mounts cannot be printed'
  done <<MOUNTS
$mounts_read
MOUNTS
}
