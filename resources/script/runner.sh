print_header() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

usage() {
  echo "usage: $0 [--from N | --only N | --back] [--log FILE]
              run all steps, those from step N on, step N only, or the rollback; you are asked before it begins
       $0 --list
              show the steps
       $0 --dry-run
              show what each step would run, and run nothing"
}

fail_usage() {
  usage >&2
  printf '%s\n' "$1" >&2
  exit 2
}

check_step_number() {
  [ "$1" -ge 1 ] 2>/dev/null && [ "$1" -le "$last_step" ] ||
    fail_usage "'$1' is not a step. The steps are 1 to $last_step."
}

main() {
  mode=run first=1 from='' only='' log=${0%.sh}.log steps=steps natives=''
  reset_step
  while [ $# -gt 0 ]; do
    case $1 in
      --list | --dry-run) mode=${1#--} ;;
      --back) steps=way_back ;;
      --from | --only | --log)
        [ $# -ge 2 ] || fail_usage "$1 needs a value."
        case $1 in --from) first=$2 from=$2 ;; --only) only=$2 ;; *) log=$2 ;; esac
        shift
        ;;
      --help) print_header && usage && exit ;;
      *) fail_usage "There is no option $1." ;;
    esac
    shift
  done
  check_step_number "$first"
  check_step_number "${only:-1}"
  if [ "$mode" = run ]; then execute; else "$steps"; fi
}

execute() {
  kept=${log%.log}.kept ended='' failed='' open='' confirmed='' asked_pass='' interrupted='' absent=''
  if [ "$steps" = way_back ] || [ "${only:-$first}" -gt "$proof_step" ]; then confirmed=yes; fi
  check_may_begin
  print_header
  case $steps$only in
    steps) will_be="Steps $first to $last_step will run." ;;
    steps*) will_be="Only step $only will run." ;;
    *)
      will_be='The rollback will run: the new cluster is stopped and its files are kept, the old cluster runs again.'
      ;;
  esac
  ask_yes_no "$will_be The log is $log. Begin?" || exit 4
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf -- "$folder"' EXIT
  trap 'interrupted=yes; exec 9>&-' INT TERM HUP
  (umask 077 && mkdir -p -- "$kept") || exit 1
  echo $$ >"$kept/running"
  # The output that another export of the plan has kept is not used here.
  if [ "$first$only$steps" = 1steps ] || ! grep -qsx "$token" "$kept/token"; then rm -f -- "$kept"/[0-9]* "$kept/at"; fi
  # Without a record of this export, the fence of the new cluster may have been lifted by another one.
  if [ "$first$only$steps" != 1steps ] && ! grep -qsx "$token" "$kept/token"; then : >"$kept/lifted"; fi
  echo "$token" >"$kept/token"
  sed -n '/^# --- sent /,/^# --- how /p' "$0" >"$folder/sent"
  me=$(id -un)@$(uname -n | tr / _)
  log_line "Begun by $me. $will_be"
  # The token includes the folder: the same script in another folder is another owner of the lock.
  place=$(cd -- "$kept" && printf '%s:%s\n' "$(uname -n)" "$PWD" | cksum) || exit 1
  owner=$token-${place%% *}
  mine="$owner $me since $(date -u '+%Y-%m-%d %H:%M') UTC"
  if connect_to_server old && connect_to_new && run_lock_function old locked take_lock "$mine" &&
    { [ -n "$absent" ] || run_lock_function new locked take_lock "$mine"; }; then
    "$steps"
    if [ -n "$ended" ] && [ -n "$open" ]; then
      log_line 'What the copy needed on the servers is removed.'
      mode=clean-up
      "$steps"
    fi
  else
    ended=1
  fi
  interrupted=
  run_lock_function old unlocked release_lock "$owner"
  [ -n "$absent" ] || run_lock_function new unlocked release_lock "$owner"
  ssh_control='-O exit'
  for side in old new; do "$side" </dev/null >/dev/null 2>&1; done
  rm -f -- "$kept/running"
  if [ -z "$ended" ]; then
    [ -n "$only" ] || rm -f -- "$kept/at"
    [ "$steps$first$absent" != way_back1 ] || rm -f -- "$kept/lifted"
    log_line 'Everything is done.'
  fi
  [ -z "$failed" ] || print_next_commands
  exit "${ended:-0}"
}

# connect_to_new   Connect to the new server. A rollback does without it until its fence is lifted: nobody can have
# written to the new cluster, and nothing starts it. After that its host may have started it.
connect_to_new() {
  connect_to_server new && return
  [ "$steps" = way_back ] || return 1
  if [ ! -e "$kept/lifted" ]; then
    absent=yes
    log_line 'The new server takes no part in the rollback. Its fence was never lifted, so nothing starts its cluster.'
    return
  fi
  log_line 'The fence of the new cluster was lifted, or that is not known. So its host may have started its cluster.'
  log_line 'Make sure that the new server is switched off, or that no server runs there. Then roll back by hand:'
  mode=dry-run
  "$steps"
  return 1
}

# The script never runs twice at once, and never overwrites what clients have written.
check_may_begin() {
  running=$(cat -- "$kept/running" 2>/dev/null)
  if [ -e "$kept/opened" ] && [ "${only:-$first}" -lt "$return_step" ]; then
    echo "Clients were allowed to connect to the new cluster. What they have written since is on the new server only."
    echo "If this may be lost, remove $kept/opened."
    ! read_position || echo "To go on: $0 --from $at_goes_on"
  elif kill -s 0 "$running" 2>/dev/null; then
    echo "This script is already running as process $running. If that is another program, remove $kept/running."
  elif [ "$from$only$steps" = steps ] && read_position && [ "$stop_step" -gt 0 ] && [ "$at" -ge "$stop_step" ] &&
    [ "$at_goes_on" -gt 1 ]; then
    # The first steps query the old cluster, which must be running for that.
    echo "This script was interrupted at step $at, in the downtime. The old cluster may be stopped, so it cannot" \
      'begin again.'
    echo "To go on:     $0 --from $at_goes_on"
    echo "To roll back: $0 --back"
  else
    return
  fi >&2
  exit 1
}

# read_position   Succeed if this export of the plan was at a step when it last ended or was killed. Sets `at`, the
# step, and `at_goes_on`, the step to continue with.
read_position() {
  grep -qsx "$token" "$kept/token" && read -r at at_goes_on 2>/dev/null <"$kept/at"
}

# step_to_resume NUMBER   Print the step to continue with if step NUMBER has not ended successfully.
step_to_resume() {
  # The lists of the passes were removed with the copy channel, or the old cluster was started meanwhile. The copy must
  # begin again with the first pass.
  goes_until=$halt_step
  [ "$first" -le "$proof_step" ] || goes_until=$((proof_step + 1))
  if [ "$1" -gt "$first_pass" ] && [ "$1" -lt "$goes_until" ]; then echo "$first_pass"; else echo "$1"; fi
}

# note_position NUMBER   Record the position, in case this process is killed: the current step, and the step to continue
# with.
note_position() {
  at=$1
  [ "$at" -ge "$first" ] || at=$first
  save_position "$at" "$(step_to_resume "$at")"
}

# save_position NUMBER GOES_ON   Save the position in one piece. Nothing is saved for a single step or during a
# rollback.
save_position() {
  [ "$steps$only" = steps ] || return 0
  echo "$1 $2" >"$kept/at.new" && mv -- "$kept/at.new" "$kept/at"
}

print_next_commands() {
  log_line "The log is $log. The output of the steps is in $kept."
  if [ "$steps" = way_back ]; then
    log_line "To go on: $0 --back --from $failed"
    return
  fi
  go_on=$failed
  if [ -n "$open" ] || [ "$first" -gt "$proof_step" ]; then go_on=$(step_to_resume "$failed"); fi
  save_position "$failed" "$go_on"
  log_line "To go on:     $0 --from $go_on"
  if [ "$failed" -lt "$stop_step" ]; then
    log_line 'The old cluster runs as before.'
  elif [ ! -e "$kept/opened" ]; then
    log_line "To roll back: $0 --back"
  fi
}

# Flags are valid for all steps from here on. Variables are valid for the next step only: `reads` is the number of the
# step whose output it reads, `agrees` that of the step whose output its own must equal. `mends` is the step to continue
# with if it differs, and `again` is the step until which it is repeated.
set_flags() { flags=" $* "; }

has_flag() { case $flags in *" $1 "*) ;; *) return 1 ;; esac }

# The plain commands of the next step, for the reader. `commands_of NUMBER`: they are the same as those of that step.
commands() { native=$(printf '       %s\n' "$@"); }
commands_of() { native=$(printf '%s\n' "$natives" | sed -n "s/^$1://p"); }

explain() { reason=$(printf '%s\n' "$1" | sed 's/^/     /'); }

# step NUMBER TITLE SIDE USER FUNCTION WORD...   Define a step. Without FUNCTION it is a manual step.
# step NUMBER TITLE same_as NUMBER   Define a step with the side, user and call of the step NUMBER.
step() {
  number=$1 title=$2
  shift 2
  if [ "$1" = same_as ]; then eval "eval \"set -- \$call_$2\""; fi
  side=$1 user=$2
  eval "call_$number=\$(quote_words \"\$@\")"
  shift 2
  case $mode in
    list) print_row ;;
    dry-run) ! is_chosen || print_step "$@" ;;
    clean-up) ! has_flag closes || clean_up_step "$@" ;;
    *) [ -n "$ended" ] || process_step "$@" ;;
  esac
  natives="$natives
$(printf '%s\n' "$native" | sed "s/^/$number:/")"
  reset_step
}

reset_step() { native='' reason='' reads='' agrees='' mends='' again=0 pass=0; }

print_row() {
  marks=
  ! has_flag stopped || marks=' [downtime]'
  ! has_flag no-return || marks="$marks [POINT OF NO RETURN]"
  printf '%3s  %-4s %-10s %s\n' "$number" "$side" "$user" "$title$marks"
}

print_step() {
  print_row
  [ -z "$reason" ] || printf '%s\n' "$reason"
  [ -z "$native" ] || printf '%s\n' "$native"
  [ $# -eq 0 ] || printf '     > %s\n' "$(quote_words "$@")"
}

is_chosen() {
  if [ -n "$only" ]; then
    [ "$number" -eq "$only" ]
  else
    [ "$number" -ge "$first" ] || [ "$first" -le "$again" ]
  fi
}

process_step() {
  if [ -n "$interrupted" ]; then
    fail_step
  elif is_chosen; then
    print_step "$@"
    if [ "$absent$side" = yesnew ]; then
      log_line "Step $number, $title: skipped, because the new server cannot be reached."
    elif lacks_input; then
      log_line "Step $number, $title: skipped, because there is no output of step $reads."
    elif confirm_step; then
      run_step "$@"
    fi
  elif has_flag needed && [ "$number" -lt "${only:-$first}" ] && [ ! -e "$kept/$number" ]; then
    fail_step 1 "it has not been done yet, and it must be done before step ${only:-$first}."
  fi
}

# a step of the rollback may read the output of a step that has not run
lacks_input() { [ "$steps" = way_back ] && [ -n "$reads" ] && [ ! -e "$kept/$reads" ]; }

fail_step() {
  [ -z "$interrupted" ] || set -- 4 'it was interrupted.'
  ended=$1 failed=$number
  log_line "Step $number, $title: $2"
}

# ask before the downtime, and before each pre-copy pass but the first
confirm_step() {
  if has_flag stopped && [ -z "$confirmed" ]; then
    printf '%s\n' 'The downtime begins: the cluster is stopped next, and clients have to wait.'
    printf 'To go on, type its name, %s: ' "$cluster"
    read -r confirmed && [ "$confirmed" = "$cluster" ] || {
      fail_step 4 'the name of the cluster was not typed, so the cluster was not stopped.'
      return 1
    }
  fi
  if [ "$pass" -gt 1 ]; then
    if [ "$pass" != "$asked_pass" ]; then
      asked_pass=$pass wanted=
      ! ask_yes_no 'This pass shortens the downtime if the pass before took long. Run it?' || wanted=yes
    fi
    [ -n "$wanted" ]
  fi
}

ask_yes_no() {
  while printf '%s [y]es, [n]o: ' "$1" && read -r answer; do
    case $answer in y | yes) return 0 ;; n | no) return 1 ;; esac
  done
  return 1
}

run_step() {
  ! has_flag opens || open=yes
  opening=
  if [ "$steps$number" = "steps$lift_step" ]; then record_that lifted || return; fi
  if has_flag no-return && [ ! -e "$kept/opened" ]; then
    opening=yes
    record_that opened || return
  fi
  note_position "$number"
  log_line "Step $number begins: $title ($side as $user)${1:+: $(quote_words "$@")}" >/dev/null
  since=$(date +%s)
  if [ $# -gt 0 ]; then
    call_step "$@"
    status=$?
    if has_flag private; then echo '     (its output is for a later step only)'; else print_output; fi
    # 69: the new cluster did not start, and no client can have written to it
    [ "$opening$status" != yes69 ] || rm -f -- "$kept/opened"
    [ "$status" -eq 0 ] || accept_reason || {
      fail_step 1 "it failed with exit status $status."
      return
    }
  elif ask_yes_no 'Have you done this?'; then
    : >"$folder/output"
  else
    fail_step 4 'it was not done.'
    return
  fi
  log_line "Step $number is done after $(($(date +%s) - since)) s." >/dev/null
  compare_output && keep_output
}

# record_that NAME   Record it for the rollback; without the record the step does not begin.
record_that() {
  (: >"$kept/$1") || {
    fail_step 1 "$kept/$1 cannot be written."
    return 1
  }
}

# 68: a person may accept the failure of this step, because they know what it cannot see
accept_reason() {
  has_flag judged && [ "$status" -eq 68 ] || return 1
  printf 'If the old server is kept out on purpose, type how clients reach the new cluster. '
  printf 'Leave it empty to stop here: '
  read -r how && [ -n "$how" ] || return 1
  log_line "Step $number, $title: accepted by $me: $how"
}

print_output() {
  awk '
    { sub(/.*\r/, "") }
    NR <= 40 { print "     | " $0 }
    END { if (NR > 40) print "     | ... " NR " lines in all" }' "$folder/output" |
    cat -v # a server's output must not contain control sequences for the terminal
}

compare_output() {
  [ -n "$agrees" ] || return 0
  if [ ! -e "$kept/$agrees" ]; then
    [ "$agrees" != "$number" ] || return 0 # it agrees with itself, and this is its first output
    fail_step 1 "the output of step $agrees is missing, and its own must equal it: $kept/$agrees."
    failed=$agrees
    return 1
  fi
  diff -- "$kept/$agrees" "$folder/output" >"$folder/differs" && return
  cat -v "$folder/differs"
  fail_step 1 "its output differs from that of step $agrees, see above."
  failed=${mends:-$failed}
  return 1
}

# The output is kept for later steps, also of another run. Private output is kept for this run only.
keep_output() {
  [ "$steps" = steps ] || return 0
  move_output || fail_step 1 "its output cannot be kept as $kept/$number."
}

move_output() {
  if has_flag private; then
    mv -- "$folder/output" "$folder/$number" || return
    : >"$folder/output"
  fi
  mv -- "$folder/output" "$kept/$number"
}

clean_up_step() {
  interrupted=
  print_step "$@"
  call_step "$@" || log_line "Step $number, $title: it failed with exit status $?. Do it by hand."
}

# Run the call with its input; its output goes to $folder/output.
call_step() {
  write_input >"$folder/input" || return 1
  if [ "$side" = you ]; then
    sh -c "$(quote_words "$@")" </dev/null >"$folder/output" 2>"$folder/errors"
  else
    run_on_server "$side" "$user" "$@"
  fi
  performed=$?
  if [ -s "$folder/errors" ]; then log_line "$(cat -v "$folder/errors")"; fi
  return "$performed"
}

write_input() {
  [ -z "$reads" ] || cat -- "$kept/$reads" || return 1
  [ ! -f "$folder/$reads" ] || cat -- "$folder/$reads" || return 1
  if has_flag functions; then
    sed -n '/^# --- functions,/,/^# --- end /{/^# --- /!p;}' "$0"
    printf '%s\n' '"$@"' exit '# whole'
  fi
}

# settings, functions and call travel on ssh's standard input, which stays open: when it ends, the server ends the call
run_on_server() {
  on_side=$1
  way=$(become_user "$1" "$2") || return 1
  shift 2
  {
    echo 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH'
    cat -- "$folder/sent"
    printf 'given=$(head -c %s; echo x)\nattended %s\n# whole' "$(file_size input)" "$(quote_words "$@")"
  } >"$folder/program"
  # lines that sudo has not read are skipped; the last line proves that everything came
  loader='printf "\n# begins\n"; while read -r line && [ "$line" != "# pghaul" ]; do :; done; program=$(head -c "$1"); '
  loader="$loader"'case $program in *"# whole") eval "$program" ;; *) exit 1 ;; esac'
  rm -f -- "$folder/line"
  mkfifo -- "$folder/line" || return 1
  # Both ends are opened at once, because waiting for the other end could be interrupted by a signal or never end.
  # shellcheck disable=SC2094 # it is no file
  command exec 7<>"$folder/line" 8<"$folder/line" 9>"$folder/line" 7<&- || return 1
  (
    # `exec` closes the shell's own end. With a redirection of the function it would stay open, and ssh would not end.
    exec <&8 8<&- 9>&-
    "$on_side" "exec ${way}sh -c $(quote_words "$loader") sh $(file_size program)"
  ) >"$folder/received" 2>"$folder/errors" &
  exec 8<&-
  if [ -n "$interrupted" ]; then exec 9>&-; else feed_input >&9 2>/dev/null; fi
  wait "$!"
  on_status=$?
  if [ -n "$interrupted" ]; then wait "$!"; fi
  exec 9>&-
  sed '1,/^# begins$/d' "$folder/received" >"$folder/output"
  return "$on_status"
}

# If sudo asks for a password, it gets it first. This is a process of its own, because ssh may have ended.
feed_input() (
  case $way in *' -S '*) pick_side "$on_side" "$old_password" "$new_password" ;; esac
  echo '# pghaul'
  cat -- "$folder/program" "$folder/input"
)

# Print the words before a command by which the login user becomes that user.
become_user() {
  login=$(pick_side "$1" "$old_login" "$new_login")
  case $2:$login:$(pick_side "$1" "$old_rights" "$new_rights") in
    "$login:"*) ;;
    *:root:*) echo "runuser -u $(quote_words "$2") -- " ;;
    *:sudo-password) echo "env LC_ALL=C sudo -k -S -p '' -u $(quote_words "$2") -- " ;;
    *:none)
      echo "On the $1 server $login may not run commands as $2." >"$folder/errors"
      return 1
      ;;
    *) echo "env LC_ALL=C sudo -n -u $(quote_words "$2") -- " ;;
  esac
}

pick_side() { if [ "$1" = old ]; then printf '%s\n' "$2"; else printf '%s\n' "$3"; fi; }

connect_to_server() {
  login=$("$1" 'id -un' </dev/null 2>"$folder/errors") || {
    log_line "The $1 server cannot be reached: $(cat -v "$folder/errors")"
    return 1
  }
  login=$(printf '%s\n' "$login" | tail -n 1) password=
  case $login:$(pick_side "$1" "$old_rights" "$new_rights") in
    root:*) ;;
    *:sudo-password)
      printf 'Password of %s for sudo on the %s server: ' "$login" "$1" >&2
      stty -echo 2>/dev/null
      read -r password
      stty echo 2>/dev/null
      echo >&2
      ;;
  esac
  if [ "$1" = old ]; then old_login=$login old_password=$password; else new_login=$login new_password=$password; fi
}

# pghaul itself takes the same lock.
run_lock_function() {
  : >"$folder/input"
  run_on_server "$1" "$(pick_side "$1" "$old_owner" "$new_owner")" "$3" \
    "$(pick_side "$1" "$old_lock" "$new_lock")" "$4" && return
  log_line "The $1 server cannot be $2: $(cat -v "$folder/errors")"
  return 1
}

# One connection per server serves all steps; ssh_control ends it.
ssh() {
  # shellcheck disable=SC2086 # two words or none
  command ssh ${ssh_control-} -o ControlMaster=auto -o "ControlPath=$folder/%C" -o ControlPersist=600 \
    -o ConnectTimeout=20 -o ServerAliveInterval=15 "$@"
}

# Quote the words so that a shell reads them again.
quote_words() {
  all=
  for each; do
    case $each in
      '' | *[!A-Za-z0-9_@%+=:,./-]*) each="'$(printf '%s\n' "$each" | sed "s/'/'\"'\"'/g")'" ;;
    esac
    all="$all $each"
  done
  printf '%s' "${all# }"
}

file_size() { printf '%s' "$(($(wc -c <"$folder/$1")))"; }

log_line() {
  printf '%s\n' "$1"
  printf '%s %s\n' "$(date -u '+%Y-%m-%d %H:%M:%S')" "$1" >>"$log"
}
