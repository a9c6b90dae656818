# What the script sends to a server besides the functions.

# attended COMMAND...   run it with the value of `given`, less its last character, as its standard input
# Standard input is the line to the script: when it ends, the script or the connection is gone, and all that runs here
# is ended too. sshd gives each command a process group of its own.
attended() {
  read -r attended_line </proc/$$/stat || exit 1
  attended_group=$(printf '%s\n' "${attended_line##*) }" | cut -d ' ' -f 3) || exit 1
  exec 3<&0 </dev/null
  (
    cat <&3
    trap '' TERM
    kill -s TERM -- "-$attended_group"
    sleep 5
    kill -s KILL -- "-$attended_group"
  ) >/dev/null 2>&1 &
  attended_watch=$!
  # shellcheck disable=SC2154 # set by the script, ahead of the call
  printf '%s' "${given%x}" | ("$@") 3<&-
  attended_status=$?
  kill -s TERM "$attended_watch"
  exit "$attended_status"
}
