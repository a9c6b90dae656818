usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
  echo "usage: $0 [--from N | --only N | --back] [--log FILE]   asks before it begins, and where a person decides"
  echo "       $0 --list | --dry-run                            the steps; what each would run: nothing is done"
}

misused() {
  printf '%s\n' "$1" >&2
  usage >&2
  exit 2
}

number_of_a_step() {
  case $1 in '' | *[!0-9]*) misused "'$1' is no number of a step" ;; *) ;; esac
  [ "$1" -ge 1 ] && [ "$1" -le "$last_step" ] || misused "the steps go from 1 to $last_step"
}

# main OPTION...   what the script was called for
main() {
  mode=run first=1 only='' log=${0%.sh}.log steps=steps
  while [ $# -gt 0 ]; do
    case $1 in
      --list | --dry-run) mode=${1#--} ;;
      --back) steps=way_back ;;
      --from | --only | --log)
        [ $# -ge 2 ] || misused "$1 wants a value"
        case $1 in --from) first=$2 ;; --only) only=$2 ;; *) log=$2 ;; esac
        shift
        ;;
      --help) usage && exit ;;
      *) misused "there is no $1" ;;
    esac
    shift
  done
  number_of_a_step "$first"
  number_of_a_step "${only:-1}"
  forget
  if [ "$mode" = run ]; then go; else "$steps"; fi
}

# go   ask once, lock both sides, go through the steps; what was opened is closed when it ends badly
go() {
  kept=${log%.log}.kept ended='' failed='' open='' confirmed='' passes='' interrupted=''
  may_begin
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf -- "$folder"' EXIT
  trap 'interrupted=yes; exec 9>&-' INT TERM HUP
  : >"$folder/nothing" || exit 1
  (umask 077 && mkdir -p -- "$kept") || exit 1
  echo $$ >"$kept/running"
  # what another export of the plan has kept is of no use to this one
  if [ "$first$only$steps" = 1steps ] || ! grep -qsx "$token" "$kept/token"; then rm -f -- "$kept"/[0-9]*; fi
  echo "$token" >"$kept/token"
  sed -n '/^# --- sent /,/^# --- how /p' "$0" >"$folder/sent"
  # shellcheck disable=SC2016 # as new keeps them: `sh FILE FUNCTION WORD...` runs one
  {
    sed -n '/^# --- functions,/,/^# --- end /{/^# --- /!p;}' "$0"
    printf '%s\n' '"$@"' exit '# whole'
  } >"$folder/functions"
  note "begun by $(id -un) on $(uname -n): $steps, from ${only:-$first}${only:+ alone}"
  if meet old && meet new && lock old "$old_lock" && lock new "$new_lock"; then
    "$steps"
    if [ -n "$ended" ] && [ -n "$open" ]; then clean_up; fi
  fi
  unlock old "$old_lock"
  unlock new "$new_lock"
  finish
}

# may_begin   say what will be done and ask; never twice at once, never over what clients have written
may_begin() {
  if [ -e "$kept/opened" ] && [ "${only:-$first}" -lt "$return_step" ]; then
    echo "new was opened to clients: what they wrote since is on new alone. May it be lost, then remove $kept/opened" >&2
    exit 1
  fi
  if [ -e "$kept/running" ] && kill -s 0 "$(cat -- "$kept/running")" 2>/dev/null; then
    echo "it runs already, as process $(cat -- "$kept/running"): $kept/running" >&2
    exit 1
  fi
  usage | sed '/^usage:/,$d'
  case $steps$only in
    steps) may_say="steps $first to $last_step" ;;
    steps*) may_say="step $only alone" ;;
    *) may_say='the way back: new is stopped and kept, old runs again' ;;
  esac
  agreed "$may_say; log: $log. Begin?" || exit 4
}

finish() {
  ssh_control='-O exit'
  for finish_side in old new; do "$finish_side" </dev/null >/dev/null 2>&1; done
  rm -f -- "$kept/running"
  [ -n "$ended" ] || note 'all of it is done'
  [ -z "$failed" ] || say_how_to_go_on
  exit "${ended:-0}"
}

say_how_to_go_on() {
  note "log: $log; what the steps printed: $kept"
  if [ "$steps" = way_back ]; then
    note "go on:   $0 --back --from $failed"
    return
  fi
  on_from=$failed
  # what the passes have listed went with the channel: old is compared whole again, but not while it is stopped
  if [ -n "$open" ] && [ "$failed" -gt "$first_pass" ] && [ "$failed" -le "$proof_step" ]; then on_from=$first_pass; fi
  # old was started meanwhile: it is stopped and copied again
  if [ "$failed" = "$proof_step" ] && [ "$first" -gt "$proof_step" ]; then on_from=$first_pass; fi
  note "go on:   $0 --from $on_from"
  if [ "$failed" -lt "$stop_step" ]; then
    note 'old runs as it did'
  elif [ ! -e "$kept/opened" ]; then
    note "go back: $0 --back"
  fi
}

# --- steps: what is said of one, and whether it runs ---

# with WORD...   of the next step: flags, and NAME=VALUE
with() {
  for with_word; do
    case $with_word in
      reads=*) reads=${with_word#*=} ;;
      agrees=*) agrees=${with_word#*=} ;;
      again=*) again=${with_word#*=} ;;
      pass=*) pass=${with_word#*=} ;;
      *) flags="$flags$with_word " ;;
    esac
  done
}

# does COMMAND...   the plain commands that do the next step's work, to be read
does() { native=$(printf '       %s\n' "$@"); }

# why TEXT   what a person needs to know for the next step
why() { reason=$(printf '%s\n' "$1" | sed 's/^/     /'); }

forget() { flags=' ' reads='' agrees='' again=0 pass=0 native='' reason=''; }

is() { case $flags in *" $1 "*) ;; *) return 1 ;; esac }

# step NUMBER TITLE SIDE USER FUNCTION WORD...   a step of the plan; without a function a person does it
step() {
  number=$1 title=$2 side=$3 user=$4
  shift 4
  case $mode in
    list) row ;;
    dry-run) ! chosen || show "$@" ;;
    clean-up) ! is closes || close "$@" ;;
    *) [ -n "$ended" ] || take "$@" ;;
  esac
  forget
}

row() {
  row_marks=
  ! is stopped || row_marks=' [cluster stopped]'
  ! is no-return || row_marks="$row_marks [POINT OF NO RETURN]"
  printf '%3s  %-4s %-10s %s\n' "$number" "$side" "$user" "$title$row_marks"
}

show() {
  row
  [ -z "$reason" ] || printf '%s\n' "$reason"
  [ -z "$native" ] || printf '%s\n' "$native"
  [ $# -eq 0 ] || printf '     > %s\n' "$(words "$@")"
}

# chosen   whether the step is to run: from --from on, or again ahead of it, or it alone
chosen() {
  if [ -n "$only" ]; then
    [ "$number" -eq "$only" ]
  else
    [ "$number" -ge "$first" ] || [ "$first" -le "$again" ]
  fi
}

# take FUNCTION WORD...   the step, if it is its turn and people agree
take() {
  if [ -n "$interrupted" ]; then
    stop 4 'interrupted'
  elif chosen; then
    show "$@"
    if may_run; then run "$@"; fi
  elif [ -z "$only" ] && is needed && [ ! -e "$kept/$number" ]; then
    stop 1 "it has not been done yet, and must be before step $first"
  fi
}

# stop STATUS WORDS...   the run ends at this step
stop() {
  ended=$1 failed=$number
  shift
  note "step $number, $title: $*"
}

# may_run   ask ahead of the stop, and of a warm pass beyond the first
may_run() {
  if is stopped && [ -z "$confirmed" ] && [ "$number" -ge "$first" ] && [ "$number" -le "$proof_step" ] &&
    [ "$steps" = steps ]; then
    printf 'from here on the cluster is stopped. Its name, %s, to go on: ' "$cluster"
    read -r confirmed && [ "$confirmed" = "$cluster" ] || {
      stop 4 'its name was not typed: the cluster is not stopped'
      return 1
    }
  fi
  if [ "$pass" -gt 1 ]; then
    case $passes in *" $pass yes "*) return 0 ;; *" $pass no "*) return 1 ;; *) ;; esac
    if agreed 'It shortens the stop where the pass before took long. Make it?'; then
      passes="$passes $pass yes "
    else
      passes="$passes $pass no "
      return 1
    fi
  fi
}

# agreed QUESTION   whether the answer is yes; the end of the input is a no
agreed() {
  while :; do
    printf '%s [y]es, [n]o: ' "$1"
    read -r agreed_answer || return 1
    case $agreed_answer in
      y | yes) return 0 ;;
      n | no) return 1 ;;
      *) ;;
    esac
  done
}

# run FUNCTION WORD...   the step, done, held against what it must agree with, and kept
run() {
  ! is opens || open=yes
  ! is no-return || : >"$kept/opened"
  note "step $number begins: $title, $side as $user${1:+: $(words "$@")}" >/dev/null
  run_since=$(date +%s)
  if [ $# -eq 0 ]; then
    agreed 'Done?' || {
      stop 4 'it was not done'
      return
    }
    : >"$folder/output"
  else
    perform "$@" || {
      run_status=$?
      printed
      if [ -n "$interrupted" ]; then stop 4 'interrupted'; else stop 1 "failed with exit status $run_status"; fi
      return
    }
    if is private; then echo '     what it printed is for a later step alone'; else printed; fi
  fi
  note "step $number ended well after $(($(date +%s) - run_since)) s" >/dev/null
  compare && keep
}

# printed   the beginning of what the step printed
printed() {
  awk '{ sub(/.*\r/, "") } NR <= 40 { print "     | " $0 } END { if (NR > 40) print "     | … " NR " lines in all" }' \
    "$folder/output"
}

# compare   with what the step must agree with, and of the proof that old is stopped with what it printed before
compare() {
  for compare_with in ${agrees:+"$kept/$agrees"} "$kept/$number"; do
    is same || [ "$compare_with" != "$kept/$number" ] || continue
    [ -e "$compare_with" ] || continue
    cmp -s -- "$compare_with" "$folder/output" || {
      diff -- "$compare_with" "$folder/output"
      stop 1 "it does not print what step ${compare_with##*/} printed before: they differ, see above"
      return 1
    }
  done
}

# keep   what the step printed, for a later one, also of another run; what is private never longer than this run
keep() {
  [ "$steps" = steps ] || return 0
  if is private; then
    mv -- "$folder/output" "$folder/$number"
    : >"$kept/$number"
  else
    mv -- "$folder/output" "$kept/$number"
  fi
}

# clean_up   after a bad end: what the copy needed is taken away on both sides
clean_up() {
  mode=clean-up interrupted=''
  note 'what the copy needed is taken away'
  "$steps"
}

close() {
  show "$@"
  perform "$@" || note "step $number, $title: failed with exit status $?; it is to be done by hand"
}

# --- servers ---

# perform FUNCTION WORD...   the step's call with its input; its output lies in $folder/output
perform() {
  : >"$folder/input"
  if [ -n "$reads" ]; then
    perform_from=$kept/$reads
    [ ! -e "$folder/$reads" ] || perform_from=$folder/$reads
    cat -- "$perform_from" >"$folder/input" || return 1
  fi
  ! is functions || cat -- "$folder/functions" >>"$folder/input"
  if [ "$side" = you ]; then
    sh -c "$(words "$@")" </dev/null >"$folder/output" 2>"$folder/errors"
  else
    on "$side" "$user" "$folder/input" "$@"
  fi
  perform_status=$?
  if [ -s "$folder/errors" ]; then note "$(cat -- "$folder/errors")"; fi
  return "$perform_status"
}

# on SIDE USER INPUT FUNCTION WORD...   run it there as that user; the output lies in $folder/output
# Settings, functions and call travel on ssh's standard input, which stays open: when it ends, the server ends the call.
# shellcheck disable=SC2016 # the server is to read these
on() {
  on_side=$1 on_input=$3
  on_way=$(way_to "$1" "$2") || return 1
  shift 3
  {
    cat -- "$folder/sent"
    printf 'given=$(head -c %s; echo x)\nattended %s\n# whole' "$(size "$on_input")" "$(words "$@")"
  } >"$folder/program"
  # what is not read by sudo is passed over; the last line proves that all of it came
  on_loader='printf "\n# begins\n"; while read -r line && [ "$line" != "# pghaul" ]; do :; done; program=$(head -c "$1"); '
  on_loader="$on_loader"'case $program in *"# whole") eval "$program" ;; *) exit 1 ;; esac'
  on_line="exec ${on_way}sh -c $(words "$on_loader") sh $(size "$folder/program")"
  rm -f -- "$folder/line"
  mkfifo -- "$folder/line" || return 1
  "$on_side" "$on_line" <"$folder/line" >"$folder/received" 2>"$folder/errors" &
  exec 9>"$folder/line"
  feed "$on_side" "$on_way" "$on_input" >&9 2>/dev/null
  wait "$!"
  on_status=$?
  if [ -n "$interrupted" ]; then wait "$!"; fi
  exec 9>&-
  sed '1,/^# begins$/d' "$folder/received" >"$folder/output"
  return "$on_status"
}

# feed SIDE WAY INPUT   a sudo that asks gets its password first; in a process of its own, for ssh may be gone
feed() (
  case $2 in
    *' -S '*) if [ "$1" = old ]; then printf '%s\n' "$old_password"; else printf '%s\n' "$new_password"; fi ;;
    *) ;;
  esac
  echo '# pghaul'
  cat -- "$folder/program" "$3"
)

# way_to SIDE USER   the words ahead of a command, by which the login becomes that user
way_to() {
  if [ "$1" = old ]; then way_login=$old_login way_rights=$old_rights; else way_login=$new_login way_rights=$new_rights; fi
  case $2:$way_login:$way_rights in
    "$way_login:"*) ;;
    *:root:*) echo "runuser -u $(words "$2") -- " ;;
    *:sudo-password) echo "env LC_ALL=C sudo -k -S -p '' -u $(words "$2") -- " ;;
    *:none)
      echo "$way_login may not become $2 on $1" >"$folder/errors"
      return 1
      ;;
    *) echo "env LC_ALL=C sudo -n -u $(words "$2") -- " ;;
  esac
}

# meet SIDE   reach it, learn who logs in there, and ask for sudo's password where it takes one
meet() {
  meet_login=$("$1" 'id -un' </dev/null 2>"$folder/errors") || {
    note "$1 cannot be reached: $(cat -- "$folder/errors")"
    ended=1
    return 1
  }
  meet_login=$(printf '%s\n' "$meet_login" | tail -n 1)
  if [ "$1" = old ]; then
    old_login=$meet_login
    [ "$meet_login:$old_rights" = root:sudo-password ] || [ "$old_rights" != sudo-password ] || old_password=$(secret old)
  else
    new_login=$meet_login
    [ "$meet_login:$new_rights" = root:sudo-password ] || [ "$new_rights" != sudo-password ] || new_password=$(secret new)
  fi
}

secret() {
  printf 'password of %s for sudo on %s: ' "$meet_login" "$1" >&2
  stty -echo 2>/dev/null
  read -r secret_word
  stty echo 2>/dev/null
  echo >&2
  printf '%s' "$secret_word"
}

# lock SIDE LOCK   the cluster there is in one hand at a time; pghaul takes the same lock
lock() {
  lock_text="$token $(id -un)@$(uname -n) since $(date -u '+%Y-%m-%d %H:%M') UTC"
  on "$1" "$(owner_of "$1")" "$folder/nothing" take_lock "$2" "$(printf '%s' "$lock_text" | tr / _)" && return
  note "$1 is not locked: $(cat -- "$folder/errors")"
  ended=1
  return 1
}

unlock() {
  interrupted=
  on "$1" "$(owner_of "$1")" "$folder/nothing" release_lock "$2" "$token" ||
    note "the lock on $1 could not be removed: $(cat -- "$folder/errors")"
}

owner_of() { if [ "$1" = old ]; then echo "$old_owner"; else echo "$new_owner"; fi; }

# ssh WORD...   one connection a server, used by all steps; `ssh_control` ends it
ssh() {
  # shellcheck disable=SC2086 # two words or none
  command ssh ${ssh_control-} -o ControlMaster=auto -o "ControlPath=$folder/%C" -o ControlPersist=600 \
    -o ConnectTimeout=20 -o ServerAliveInterval=15 "$@"
}

# --- words ---

# words WORD...   as the shell reads them again
words() {
  words_all=
  for words_each; do
    case $words_each in
      '' | *[!A-Za-z0-9_@%+=:,./-]*)
        words_each=$(printf '%s\n' "$words_each" | sed "s/'/'\"'\"'/g")
        words_each="'$words_each'"
        ;;
      *) ;;
    esac
    words_all="$words_all $words_each"
  done
  printf '%s' "${words_all# }"
}

size() { printf '%s' "$(($(wc -c <"$1")))"; }

# note WORDS...   on the terminal, and with the time in the log
note() {
  printf '%s\n' "$*"
  printf '%s %s\n' "$(date -u '+%Y-%m-%d %H:%M:%S')" "$*" >>"$log"
}
