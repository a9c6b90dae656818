# run a command with `given`, less its last character, as standard input; the real one is the line to the script: when
# that ends, all that runs here is ended too (sshd gives each command a process group of its own)
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
