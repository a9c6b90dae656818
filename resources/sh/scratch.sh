# A scratch folder on the file system of a target, for probes. It is never in a data directory.

# make_scratch TARGET NAME USER   Create a folder of that name for that user, and print its path. It is in the nearest
# existing folder above the target, or in the target itself if that is a mount point.
make_scratch() {
  make_beside=$1
  until [ -d "$make_beside" ]; do
    make_beside=$(dirname -- "$make_beside") || fail 'dirname failed'
  done
  make_above=$(dirname -- "$make_beside") || fail 'dirname failed'
  make_devices=$(stat -c %d -- "$make_beside" "$make_above") ||
    fail "the file system of $make_beside could not be determined"
  if [ "$make_beside" = "$1" ] && [ "${make_devices%%[!0-9]*}" = "${make_devices##*[!0-9]}" ]; then
    make_beside=$make_above
  fi
  [ ! -e "$make_beside/PG_VERSION" ] || fail "$make_beside is a data directory, and nothing is created in it"
  make_folder=${make_beside%/}/$2
  rm -rf -- "$make_folder" || fail "$make_folder cannot be removed"
  mkdir -m 700 -- "$make_folder" || fail "$make_folder cannot be created"
  # -h: the owner of the folder above may have put a link in its place meanwhile.
  chown -h -- "$3:" "$make_folder" || fail "$make_folder cannot be given to $3"
  printf '%s' "$make_folder"
}

# remove_scratch TARGET NAME   Remove the folder of that name, after ending a receiver that still works in it. It is
# looked for in the target and in every folder above, because an interrupted probe does not know where it was created.
remove_scratch() {
  remove_folder='' remove_above=$1
  while [ "$remove_folder" != "$remove_above" ]; do
    remove_folder=$remove_above
    remove_above=$(dirname -- "$remove_folder") || fail 'dirname failed'
    remove_found=${remove_folder%/}/$2
    if [ -e "$remove_found" ]; then
      end_processes_in "$remove_found"
      rm -rf -- "$remove_found" || fail "$remove_found cannot be removed"
    fi
  done
}

# end_processes_in FOLDER   Send TERM to every process that works in it or below, for at most five seconds. A process
# that survives this does not prevent the removal of the folder.
end_processes_in() {
  those_tries=0
  while [ "$those_tries" -lt 50 ]; do
    those_ids=$(list_processes_in "$1") || exit
    [ -n "$those_ids" ] || return 0
    for those_id in $those_ids; do
      kill "$those_id" 2>/dev/null # it may have ended by itself
    done
    sleep 0.1 || fail 'the program sleep is missing'
    those_tries=$((those_tries + 1))
  done
}

# list_processes_in FOLDER   Print the id of each process that works in it or below.
list_processes_in() {
  # Some processes end meanwhile, some belong to other users; find's own process, the last, proves that the list is
  # complete.
  those_seen=$(find /proc/[0-9]*/cwd /proc/self/cwd -maxdepth 0 -printf '%p %l\n' 2>/dev/null)
  case $those_seen in
    *'/proc/self/cwd '*) ;;
    *) fail "the processes that work in $1 could not be determined" ;;
  esac
  printf '%s\n' "$those_seen" | while IFS= read -r those_line; do
    those_process=${those_line#/proc/}
    case ${those_line#* } in
      "$1" | "$1"/*) echo "${those_process%%/*}" ;;
      *) ;;
    esac
  done
}
