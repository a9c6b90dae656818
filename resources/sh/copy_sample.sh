# The sample of a copy: it is sent by the same passes as the copy, and timed on the sending server.
# shellcheck disable=SC2154,SC2034

# send_sample FOLDER TARGET SECONDS [CONNECT FLUSH]   On the old server: send the sample of FOLDER, listed in
# copy_folder/sample, by the copy's transport. The time ends when it is on the disk of the new server, or when its passes
# are ended after SECONDS. Print `nanoseconds`, without the time to connect (`connect`) and without that of a flush that
# has nothing to do (`flush`). Both are measured first, unless an earlier sample by the same route has printed them. Also
# print `cut off` if a pass was ended.
send_sample() {
  enter_folder "$1"
  uncache_sample
  "$copy_share" "$copy_folder/sample" sample
  sample_connect=${4-} sample_ask=${5-}
  [ -n "$sample_ask" ] || time_connection "$2"
  sample_kinds=$(awk '{ if ($2 > 0) ends = 1; else whole = 1 }
    END { print ends + 0 whole + 0 }' "$copy_folder/sample") ||
    fail "$copy_folder/sample cannot be read"
  time_sample "$2" "$3"
}

# time_connection TARGET   Set sample_connect, the nanoseconds of the faster of two passes over nothing, and sample_ask,
# those of a flush that has nothing to do.
time_connection() {
  : >"$copy_folder/files-sample-0.names" || fail "$copy_folder cannot be written"
  sample_connect=''
  for _ in 1 2; do
    sample_start=$(date +%s%N) || fail 'date failed'
    run_tolerating 0 "$copy_stream" 0 sample "$1" >/dev/null
    sample_now=$(date +%s%N) || fail 'date failed'
    sample_took=$((sample_now - sample_start))
    [ "${sample_connect:-$sample_took}" -lt "$sample_took" ] || sample_connect=$sample_took
  done
  flush_target sample "$1"
  sample_start=$(date +%s%N) || fail 'date failed'
  flush_target sample "$1"
  sample_now=$(date +%s%N) || fail 'date failed'
  sample_ask=$((sample_now - sample_start))
}

# time_sample TARGET SECONDS   Send what send_sample has prepared, flush it, and print the time. Of the SECONDS the
# first of two passes may take half. If less than a tenth of the time remains after the deductions, it tells no rate:
# then 0 is printed.
time_sample() {
  sample_passes=0 sample_cut=''
  sample_start=$(date +%s%N) || fail 'date failed'
  case $sample_kinds in
    11) sample_pass "$1" $((($2 + 1) / 2)) --existing --append ;;
    1?) sample_pass "$1" "$2" --existing --append ;;
    *) ;;
  esac
  case $sample_kinds in
    ?1)
      sample_now=$(date +%s%N) || fail 'date failed'
      sample_rest=$(($2 - (sample_now - sample_start) / 1000000000))
      [ "$sample_rest" -gt 0 ] || sample_rest=1
      sample_pass "$1" "$sample_rest" --ignore-existing --partial
      ;;
    *) ;;
  esac
  sample_sent=$(date +%s%N) || fail 'date failed'
  flush_target sample "$1"
  sample_now=$(date +%s%N) || fail 'date failed'
  sample_flush=$((sample_now - sample_sent - sample_ask))
  [ "$sample_flush" -gt 0 ] || sample_flush=0
  sample_left=$((sample_sent - sample_start - sample_passes * sample_connect + sample_flush))
  [ $((sample_left * 10)) -ge $((sample_sent - sample_start + sample_flush)) ] || sample_left=0
  printf 'nanoseconds %s\nconnect %s\nflush %s\n%s' "$sample_left" "$sample_connect" "$sample_ask" "$sample_cut"
}

# sample_pass TARGET SECONDS OPTION...   Run one pass over the sample, for at most SECONDS; the end of its time and a
# vanished file are no failures.
sample_pass() {
  sample_passes=$((sample_passes + 1)) sample_target=$1
  copy_limit="timeout --foreground -k 2 $2"
  shift 2
  # shellcheck disable=SC2086 # options without blanks
  run_streams - sample "$sample_target" $copy_vanish "$@"
  sample_status=$?
  case $sample_status in
    0 | 24) ;;
    124)
      sample_cut='cut off
'
      ;;
    *) refuse "$sample_status" "rsync ended with exit status $sample_status: the lines above say why" ;;
  esac
}

# uncache_sample   Drop the sample from the page cache, so that it is read from the disk.
uncache_sample() {
  while read -r _ drop_skip _ _ drop_name; do
    uncache "$drop_name" $((drop_skip / 1048576))
  done <"$copy_folder/sample" || fail "$copy_folder/sample cannot be read"
}
