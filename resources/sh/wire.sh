# Probes of the network from the old server to the new server: zeros through plain TCP or ssh, and iperf3, limited in
# bytes and seconds. They print `bytes` and `nanoseconds`, taken on the old server. As in the probes of storage, `date`
# itself reads the clock.

# cipher_probe FOLDER CIPHER BYTES SECONDS   Time zeros through ssh to the new server, which discards them; CIPHER `-`:
# the default of ssh. FOLDER contains the ssh_config of the copy. Print also `connect`, the nanoseconds of a connection,
# which are subtracted.
cipher_probe() {
  cipher_bytes=$3 cipher_seconds=$4
  if [ "$2" = - ]; then set -- -F "$1/ssh_config"; else set -- -F "$1/ssh_config" -c "$2"; fi
  set -- ssh "$@" new 'pghaul-receive discard'
  cipher_start=$(date +%s%N) || fail 'date failed'
  cipher_said=$("$@" 2>&1 </dev/null) || fail "ssh to the new server failed: ${cipher_said##*'
'}"
  cipher_end=$(date +%s%N) || fail 'date failed'
  cipher_sent=$(send_zeros "$cipher_bytes" "$cipher_seconds" "$@") || exit
  printf 'nanoseconds %s\nconnect %s\n%s\n' $((${cipher_sent##*nanoseconds } - (cipher_end - cipher_start))) \
    $((cipher_end - cipher_start)) "${cipher_sent%%'
'*}"
}

# wire_probe ADDRESS PORT BYTES SECONDS   Time zeros through plain TCP to a listener on the new server. What the kernels
# of both hosts still buffer at the end is negligible.
wire_probe() {
  case $1 in
    *:*) wire_to=TCP:[$1]:$2 ;;
    *) wire_to=TCP:$1:$2 ;;
  esac
  send_zeros "$3" "$4" socat -u - "$wire_to,retry=10,interval=0.2"
}

# send_zeros BYTES SECONDS COMMAND...   Print `bytes` and `nanoseconds` of zeros into COMMAND, until either limit.
send_zeros() {
  sent_said=$(time_zeros "$@") || fail "$3 failed: ${sent_said##*'
'}"
  case $sent_said in
    *'bytes '*) ;;
    *) fail "the zeros sent to $3 are incomplete" ;;
  esac
  sent_bytes=${sent_said##*'bytes '}
  printf 'bytes %s\nnanoseconds %s\n' "${sent_bytes%%'
'*}" "${sent_said##*'nanoseconds '}"
}

# time_zeros BYTES SECONDS COMMAND...   The same after the output of COMMAND, and without `bytes` if the zeros are
# incomplete.
time_zeros() {
  timed_bytes=$1 timed_seconds=$2
  shift 2
  timed_start=$(date +%s%N) || fail 'date failed'
  { write_zeros "$timed_bytes" $((timed_start + timed_seconds * 1000000000)) | "$@" >&3 2>&3 3>&-; } 3>&1 || return
  timed_end=$(date +%s%N) || fail 'date failed'
  echo "nanoseconds $((timed_end - timed_start))"
}

# write_zeros BYTES END   Write zeros until there are so many or the clock is at END; then print their number on
# descriptor 3.
write_zeros() {
  zeros_moved=0 zeros_now=0
  while [ "$zeros_moved" -lt "$1" ] && [ "$zeros_now" -lt "$2" ]; do
    dd if=/dev/zero bs=1048576 count=16 status=none || exit # COMMAND may have ended: send_zeros says why
    zeros_moved=$((zeros_moved + 16777216))
    zeros_now=$(date +%s%N) || fail 'date failed'
  done
  echo "bytes $zeros_moved" >&3
}

# iperf3_probe ADDRESS PORT SECONDS   Print the JSON of iperf3 for one stream to the new server. Until the listener is
# up, connections are refused, so it tries for two seconds. With -J its exit status is 0 even then.
iperf3_probe() {
  iperf3_tries=0
  while :; do
    iperf3_status=0
    iperf3_said=$(timeout --foreground 12 iperf3 -c "$1" -p "$2" -t "$3" -J) || iperf3_status=$?
    case $iperf3_said in
      *refused*) ;;
      *'"error":'*) fail "iperf3 failed: ${iperf3_said##*'"error":'}" ;;
      *) break ;;
    esac
    iperf3_tries=$((iperf3_tries + 1))
    [ "$iperf3_tries" -lt 10 ] || fail "port $2 of $1 refused every connection of iperf3"
    sleep 0.2 || fail 'the program sleep is missing'
  done
  [ "$iperf3_status" -eq 0 ] || fail "iperf3 ended with exit status $iperf3_status"
  printf '%s\n' "$iperf3_said"
}

# free_port PORT...   Print the first of these ports on which nothing listens.
free_port() {
  for free_candidate in "$@"; do
    port_is_taken "$free_candidate" || {
      echo "$free_candidate"
      return
    }
  done
  fail "all of these ports are in use: $*"
}
