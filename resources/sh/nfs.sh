# The mount of a copy: NFS served and exported on new, mounted on old, by root; and all of it taken away again.
# STATE is below /run: on new it holds what was begun there, on old the mounts, which its owner's group alone may enter.

# serve_nfs STATE VERSION OPTION...   on new: an NFS server, begun by rpc.nfsd with OPTION..., where none runs
# What is begun is kept in STATE. No lock of an earlier client is waited for: version 4 ends its grace period at once.
serve_nfs() {
  own_folder "$1"
  mount_nfsd "$1"
  serve_threads=$(cat /proc/fs/nfsd/threads) || fail 'the kernel of new does not say whether it serves NFS'
  if [ "$serve_threads" -gt 0 ]; then
    echo 'an NFS server runs on new'
    return
  fi
  if [ "$2" = 3 ]; then serve_names "$1" /run; fi
  : >"$1/nfsd" || fail "$1 cannot be written"
  (shift 2 && rpc.nfsd "$@" 8) || fail 'rpc.nfsd cannot start the NFS server'
  if [ "$2" = 3 ]; then
    run_alone "$1" rpc.mountd --foreground
  else
    echo Y | tee /proc/fs/nfsd/v4_end_grace >/dev/null || fail 'the grace period of the NFS server cannot be ended'
    run_alone "$1" rpc.mountd --foreground -N 2 -N 3
  fi
}

# mount_nfsd STATE   the kernel's side of an NFS server, where it is not there yet
mount_nfsd() {
  ! is_mounted /proc/fs/nfsd nfsd || return 0
  modprobe nfsd || fail 'the kernel of new cannot serve NFS: it has no module nfsd'
  : >"$1/mounted" || fail "$1 cannot be written"
  mount -t nfsd nfsd /proc/fs/nfsd || {
    rm -f -- "$1/mounted"
    fail '/proc/fs/nfsd cannot be mounted'
  }
}

# serve_names STATE RUN   rpcbind, which version 3 asks for its ports, where none runs; RUN is the folder of its socket
serve_names() {
  [ ! -e "$2/rpcbind.sock" ] || return 0
  if [ ! -d "$2/rpcbind" ]; then
    mkdir -m 755 -- "$2/rpcbind" || fail "$2/rpcbind cannot be made"
    printf '%s\n' "$2" >"$1/names" || fail "$1 cannot be written"
  fi
  run_detached "$1" rpcbind -f
  names_tries=0
  until [ -e "$2/rpcbind.sock" ]; do
    names_tries=$((names_tries + 1))
    [ "$names_tries" -lt 100 ] || fail 'rpcbind runs, but nobody can ask it'
    sleep 0.1 || fail 'sleep is not there'
  done
}

# run_alone STATE PROGRAM [WORD]...   the same as run_detached, where no process of that name runs
run_alone() {
  pidof "$2" >/dev/null
  case $? in
    0) ;;
    1) run_detached "$@" ;;
    *) fail "pidof does not say whether $2 runs" ;;
  esac
}

# run_detached STATE PROGRAM [WORD]...   run it by itself, its process id and start in STATE/PROGRAM; fails where it ends at once
run_detached() {
  detached_file=$1/$2
  shift
  setsid "$@" </dev/null >/dev/null 2>&1 &
  detached_since=$(begun_at "$!") || exit
  printf '%s\n' "$! $detached_since" >"$detached_file" || fail "$detached_file cannot be written"
  sleep 0.2 || fail 'sleep is not there'
  kill -s 0 "$!" 2>/dev/null || fail "$1 ended at once: run it by hand to see why"
}

# stop_nfs STATE   on new: end what serve_nfs began; nothing where a server ran before
stop_nfs() {
  [ -d "$1" ] || return 0
  if [ -e "$1/nfsd" ]; then rpc.nfsd 0 || fail 'rpc.nfsd cannot stop the NFS server'; fi
  end_detached "$1" rpc.mountd
  end_detached "$1" rpcbind
  if [ -e "$1/mounted" ]; then umount /proc/fs/nfsd || fail '/proc/fs/nfsd cannot be unmounted'; fi
  if [ -e "$1/names" ]; then
    read -r stop_run <"$1/names" || fail "$1/names cannot be read"
    rm -rf -- "$stop_run/rpcbind" "$stop_run/rpcbind.sock" "$stop_run/rpcbind.lock" ||
      fail "what rpcbind left in $stop_run cannot be removed"
  fi
  (enter "$1" && rm -f -- nfsd rpc.mountd rpcbind mounted names && rmdir -- "$1") || fail "$1 cannot be removed"
}

# end_detached STATE PROGRAM   end what run_detached began, if it still runs
end_detached() {
  [ -s "$1/$2" ] || return 0
  read -r detached_process detached_since <"$1/$2" || fail "$1/$2 cannot be read"
  # its number may be another's by now; rpcbind itself is another user's, once it has begun
  read -r detached_name 2>/dev/null <"/proc/$detached_process/comm" || return 0
  detached_begun=$(begun_at "$detached_process") || exit
  [ "$detached_name" != "$2" ] || [ "$detached_begun" != "$detached_since" ] || end_group "$detached_process" 100
}

# source_address HOST   on old: print its own address from which the kernel goes to HOST
source_address() {
  source_found=$(getent ahosts "$1") || fail "old does not know the address of $1"
  source_route=$(ip -o route get "${source_found%% *}") || fail "old knows no way to $1"
  case $source_route in
    *' src '*) ;;
    *) fail "the way to $1 names no address of old: $source_route" ;;
  esac
  source_route=${source_route#* src }
  printf '%s\n' "${source_route%% *}"
}

# export_targets WRITER OPTIONS CLIENTS [FSID TARGET]...   on new: export each TARGET to one of CLIENTS; what comes is WRITER's
# Standard input says which: the address that old comes from. Of a file system that holds more than TARGET no more is to be had by a
# number that somebody made up.
export_targets() {
  export_user=$(id -u -- "$1") || fail "new has no user $1"
  export_group=$(id -g -- "$1") || fail "the user $1 of new has no group"
  export_options=$2,anonuid=$export_user,anongid=$export_group
  read -r export_address || fail 'it is not said which address old comes from: nothing is exported'
  export_client=
  for export_known in $3; do
    case $export_known in
      "$export_address" | "[$export_address]") export_client=$export_known ;;
      *) ;;
    esac
  done
  [ -n "$export_client" ] || fail "old comes from $export_address, which its facts do not know: nothing is exported"
  shift 3
  while [ $# -gt 1 ]; do
    nothing_below "$2"
    export_check=subtree_check
    if mountpoint -q -- "$2"; then export_check=no_subtree_check; fi
    export_target "$2" "$export_client" "$1" "$export_options,$export_check"
    shift 2
  done
}

# nothing_below FOLDER   fails where a file system is mounted there: over NFS its mount point would be written to
nothing_below() {
  below_all=$(all_mounts) || exit
  while read -r below_type below_folder; do
    case $below_folder in
      "$1"/*) fail "$below_folder is a file system of its own ($below_type): over NFS it would not be reached" ;;
      *) ;;
    esac
  done <<MOUNTS
$below_all
MOUNTS
}

# export_target TARGET CLIENT FSID OPTIONS   export it; refused where somebody else exports it to CLIENT already
export_target() {
  export_name=${2#\[}
  export_name=${export_name%\]} # as exportfs has it: without the brackets of IPv6
  export_all=$(exportfs -s) || fail 'exportfs does not say what new exports'
  while read -r export_line; do
    export_folder=$(printf '%b' "${export_line%%  "$export_name("*}")
    case $export_line in
      *"fsid=$3"*) ;;
      *) [ "$export_folder" != "$1" ] || fail "somebody else exports that already: $export_line" ;;
    esac
  done <<EXPORTS
$export_all
EXPORTS
  exportfs -o "$4,fsid=$3" "$2:$1" || fail "exportfs does not export $1 to $2"
}

# unexport_targets CLIENTS [FSID TARGET]...   on new: no TARGET is exported by us any more
unexport_targets() {
  command -v exportfs >/dev/null || return 0 # where there is none nothing was exported
  unexport_clients=$1
  shift
  while [ $# -gt 1 ]; do
    for unexport_client in $unexport_clients; do unexport_target "$2" "$unexport_client" "$1"; done
    shift 2
  done
}

# unexport_target TARGET CLIENT FSID   export it no more; what bears another FSID is somebody else's
unexport_target() {
  unexport_name=${2#\[}
  unexport_name=${unexport_name%\]}
  unexport_all=$(exportfs -s) || fail 'exportfs does not say what new exports'
  while read -r unexport_line; do
    case $unexport_line in
      *"  $unexport_name("*"fsid=$3"*) exportfs -u "$2:$1" || fail "exportfs exports $1 to $2 still" ;;
      *) ;;
    esac
  done <<EXPORTS
$unexport_all
EXPORTS
}

# mount_targets STATE OWNER OPTIONS [LABEL SOURCE]...   on old: mount each SOURCE anew as STATE/LABEL, for OWNER's group alone
mount_targets() {
  [ -d "${1%/*}" ] || fail "there is no ${1%/*} to mount in"
  # root's: in a folder of OWNER's a link could stand where root is about to mount
  mount_group=$(id -g -- "$2") || fail "old has no user $2"
  install -d -m 0710 -g "$mount_group" -- "$1" || fail "$1 cannot be made for $2"
  mount_state=$1 mount_options=$3
  shift 3
  while [ $# -gt 1 ]; do
    mount_target "$mount_state/$1" "$2" "$mount_options"
    shift 2
  done
}

# mount_target FOLDER SOURCE OPTIONS   mount it there, anew
mount_target() {
  unmount_target "$1"
  mkdir -m 0555 -- "$1" || fail "$1 cannot be made"
  timeout -k 2 60 mount -t nfs -o "$3" "$2" "$1"
  case $? in
    0) ;;
    124 | 137) fail "$2 does not answer old within 60 seconds: is there a firewall between them?" ;;
    *) fail "$2 cannot be mounted on old" ;;
  esac
}

# unmount_targets STATE LABEL...   on old: nothing mounted in STATE, and no STATE
unmount_targets() {
  unmount_state=$1
  shift
  for unmount_label; do unmount_target "$unmount_state/$unmount_label"; done
  [ ! -d "$unmount_state" ] || rmdir -- "$unmount_state" || fail "$unmount_state cannot be removed"
}

# unmount_target FOLDER   nothing of NFS mounted there, and no FOLDER; prints a warning where it is only let go
# A server that does not answer is not waited for: that ends what waits for it.
unmount_target() {
  unmount_tries=0
  while is_mounted "$1" nfs nfs4 && [ "$unmount_tries" -lt 25 ] && nfs_answers "$1"; do
    umount -- "$1" 2>/dev/null || sleep 0.2 || fail 'sleep is not there'
    unmount_tries=$((unmount_tries + 1))
  done
  if is_mounted "$1" nfs nfs4 && ! umount -i -f -- "$1" 2>/dev/null; then
    umount -i -l -- "$1" || fail "$1 cannot be unmounted"
    echo "warning: $1 was busy, or new does not answer: it goes when nothing uses it any more"
  fi
  [ ! -d "$1" ] || rmdir -- "$1" || fail "$1 cannot be removed"
}

# nfs_answers FOLDER   whether the server of what is mounted there answers within ten seconds
nfs_answers() {
  timeout -k 1 10 stat -f -- "$1" >/dev/null 2>&1
}

# is_mounted FOLDER TYPE...   whether a file system of one of these types is mounted there; 1: none
is_mounted() {
  mounted_folder=$1
  shift
  mounted_all=$(all_mounts) || exit
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

# all_mounts   print type and folder of all that is mounted here, a line each
all_mounts() {
  mounts_read=$(cat /proc/mounts) || fail 'it cannot be read what is mounted'
  while read -r _ mounts_folder mounts_type _; do
    printf '%s %b\n' "$mounts_type" "$mounts_folder" || fail 'it cannot be said what is mounted'
  done <<MOUNTS
$mounts_read
MOUNTS
}
