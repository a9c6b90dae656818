what_it_is() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

usage() {
  echo "usage: $0 [--from N | --only N | --back] [--log FILE]
              run all steps, those from step N on, step N only, or the rollback; you are asked before it begins
       $0 --list
              show the steps
       $0 --dry-run
              show what each step would run, and run nothing"
}

misused() {
  usage >&2
  printf '%s\n' "$1" >&2
  exit 2
}

is_a_step() {
  [ "$1" -ge 1 ] 2>/dev/null && [ "$1" -le "$last_step" ] || misused "'$1' is not a step. The steps are 1 to $last_step."
}

main() {
  mode=run first=1 from='' only='' log=${0%.sh}.log steps=steps natives=''
  forget
  while [ $# -gt 0 ]; do
    case $1 in
      --list | --dry-run) mode=${1#--} ;;
      --back) steps=way_back ;;
      --from | --only | --log)
        [ $# -ge 2 ] || misused "$1 needs a value."
        case $1 in --from) first=$2 from=$2 ;; --only) only=$2 ;; *) log=$2 ;; esac
        shift
        ;;
      --help) what_it_is && usage && exit ;;
      *) misused "There is no option $1." ;;
    esac
    shift
  done
  is_a_step "$first"
  is_a_step "${only:-1}"
  if [ "$mode" = run ]; then go; else "$steps"; fi
}

go() {
  kept=${log%.log}.kept ended='' failed='' open='' confirmed='' asked_pass='' interrupted=''
  if [ "$steps" = way_back ] || [ "${only:-$first}" -gt "$proof_step" ]; then confirmed=yes; fi
  may_begin
  what_it_is
  case $steps$only in
    steps) will_be="Steps $first to $last_step will run." ;;
    steps*) will_be="Only step $only will run." ;;
    *) will_be='The rollback will run: the new cluster is stopped and its files are kept, the old cluster runs again.' ;;
  esac
  agreed "$will_be The log is $log. Begin?" || exit 4
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf -- "$folder"' EXIT
  trap 'interrupted=yes; exec 9>&-' INT TERM HUP
  (umask 077 && mkdir -p -- "$kept") || exit 1
  echo $$ >"$kept/running"
  # what another export of the plan has kept is of no use to this one
  if [ "$first$only$steps" = 1steps ] || ! grep -qsx "$token" "$kept/token"; then rm -f -- "$kept"/[0-9]* "$kept/at"; fi
  echo "$token" >"$kept/token"
  sed -n '/^# --- sent /,/^# --- how /p' "$0" >"$folder/sent"
  me=$(id -un)@$(uname -n | tr / _)
  note "Begun by $me. $will_be"
  # of this place alone: what runs elsewhere is another's, were it the same script
  place=$(cd -- "$kept" && printf '%s:%s\n' "$(uname -n)" "$PWD" | cksum) || exit 1
  owner=$token-${place%% *}
  mine="$owner $me since $(date -u '+%Y-%m-%d %H:%M') UTC"
  if meet old && meet new && lock old locked take_lock "$mine" && lock new locked take_lock "$mine"; then
    "$steps"
    if [ -n "$ended" ] && [ -n "$open" ]; then
      note 'What the copy needed on the servers is removed.'
      mode=clean-up
      "$steps"
    fi
  else
    ended=1
  fi
  interrupted=
  lock old unlocked release_lock "$owner"
  lock new unlocked release_lock "$owner"
  ssh_control='-O exit'
  for side in old new; do "$side" </dev/null >/dev/null 2>&1; done
  rm -f -- "$kept/running"
  if [ -z "$ended" ]; then
    [ -n "$only" ] || rm -f -- "$kept/at"
    note 'Everything is done.'
  fi
  [ -z "$failed" ] || say_how_to_go_on
  exit "${ended:-0}"
}

# never twice at once, never over what clients have written
may_begin() {
  running=$(cat -- "$kept/running" 2>/dev/null)
  if [ -e "$kept/opened" ] && [ "${only:-$first}" -lt "$return_step" ]; then
    echo "Clients were allowed to connect to the new cluster. What they have written since is on the new server only."
    echo "If this may be lost, remove $kept/opened."
    ! where_it_was || echo "To go on: $0 --from $at_goes_on"
  elif kill -s 0 "$running" 2>/dev/null; then
    echo "This script is already running as process $running. If that is another program, remove $kept/running."
  elif [ "$from$only$steps" = steps ] && where_it_was && [ "$stop_step" -gt 0 ] && [ "$at" -ge "$stop_step" ] &&
    [ "$at_goes_on" -gt 1 ]; then
    # from the first step on it would ask a stopped cluster for what only a running one tells
    echo "This script was interrupted at step $at, in the downtime. The old cluster may be stopped, so it cannot begin again."
    echo "To go on:     $0 --from $at_goes_on"
    echo "To roll back: $0 --back"
  else
    return
  fi >&2
  exit 1
}

# where_it_was   whether this export of the plan was at a step when it last ended, or was killed; sets which, and where to go on
where_it_was() {
  grep -qsx "$token" "$kept/token" && read -r at at_goes_on 2>/dev/null <"$kept/at"
}

# goes_on_from NUMBER   print the step from which it goes on when NUMBER did not end well
goes_on_from() {
  # the passes' lists went with the channel: old is compared again, while it runs; or it was started meanwhile
  goes_until=$halt_step
  [ "$first" -le "$proof_step" ] || goes_until=$((proof_step + 1))
  if [ "$1" -gt "$first_pass" ] && [ "$1" -lt "$goes_until" ]; then echo "$first_pass"; else echo "$1"; fi
}

# at_step NUMBER   what is told should this be killed from here on: where it was, and where it goes on
at_step() {
  at=$1
  [ "$at" -ge "$first" ] || at=$first
  remember "$at" "$(goes_on_from "$at")"
}

# remember NUMBER GOES_ON   whole or not at all; nothing of a step alone, or of the way back
remember() {
  [ "$steps$only" = steps ] || return 0
  echo "$1 $2" >"$kept/at.new" && mv -- "$kept/at.new" "$kept/at"
}

say_how_to_go_on() {
  note "The log is $log. The output of the steps is in $kept."
  if [ "$steps" = way_back ]; then
    note "To go on: $0 --back --from $failed"
    return
  fi
  go_on=$failed
  if [ -n "$open" ] || [ "$first" -gt "$proof_step" ]; then go_on=$(goes_on_from "$failed"); fi
  remember "$failed" "$go_on"
  note "To go on:     $0 --from $go_on"
  if [ "$failed" -lt "$stop_step" ]; then
    note 'The old cluster runs as before.'
  elif [ ! -e "$kept/opened" ]; then
    note "To roll back: $0 --back"
  fi
}

# flags that hold from here on; by name, for the next step alone, what it reads, must agree with, where to go on if it does
# not, till when it is done again
with() { flags=" $* "; }

is() { case $flags in *" $1 "*) ;; *) return 1 ;; esac }

# the plain commands that do the next step's work, to be read; like NUMBER: those of that step
does() { native=$(printf '       %s\n' "$@"); }
like() { native=$(printf '%s\n' "$natives" | sed -n "s/^$1://p"); }

why() { reason=$(printf '%s\n' "$1" | sed 's/^/     /'); }

# step NUMBER TITLE SIDE USER FUNCTION WORD...   without a function a person does it
# step NUMBER TITLE like NUMBER   where, as whom and what that step does
step() {
  number=$1 title=$2
  shift 2
  if [ "$1" = like ]; then eval "eval \"set -- \$call_$2\""; fi
  side=$1 user=$2
  eval "call_$number=\$(words \"\$@\")"
  shift 2
  case $mode in
    list) row ;;
    dry-run) ! chosen || show "$@" ;;
    clean-up) ! is closes || take_away "$@" ;;
    *) [ -n "$ended" ] || take "$@" ;;
  esac
  natives="$natives
$(printf '%s\n' "$native" | sed "s/^/$number:/")"
  forget
}

forget() { native='' reason='' reads='' agrees='' mends='' again=0 pass=0; }

row() {
  marks=
  ! is stopped || marks=' [downtime]'
  ! is no-return || marks="$marks [POINT OF NO RETURN]"
  printf '%3s  %-4s %-10s %s\n' "$number" "$side" "$user" "$title$marks"
}

show() {
  row
  [ -z "$reason" ] || printf '%s\n' "$reason"
  [ -z "$native" ] || printf '%s\n' "$native"
  [ $# -eq 0 ] || printf '     > %s\n' "$(words "$@")"
}

chosen() {
  if [ -n "$only" ]; then
    [ "$number" -eq "$only" ]
  else
    [ "$number" -ge "$first" ] || [ "$first" -le "$again" ]
  fi
}

take() {
  if [ -n "$interrupted" ]; then
    stop
  elif chosen; then
    show "$@"
    if unknown; then
      note "Step $number, $title: skipped, because there is no output of step $reads."
    elif may_run; then
      run "$@"
    fi
  elif is needed && [ "$number" -lt "${only:-$first}" ] && [ ! -e "$kept/$number" ]; then
    stop 1 "it has not been done yet, and it must be done before step ${only:-$first}."
  fi
}

# the way back reads what was printed before it; nobody can print that now
unknown() { [ "$steps" = way_back ] && [ -n "$reads" ] && [ ! -e "$kept/$reads" ]; }

stop() {
  [ -z "$interrupted" ] || set -- 4 'it was interrupted.'
  ended=$1 failed=$number
  note "Step $number, $title: $2"
}

# ask ahead of the stop, and of a warm pass beyond the first
may_run() {
  if is stopped && [ -z "$confirmed" ]; then
    printf 'The downtime begins: the cluster is stopped next, and clients have to wait.\nTo go on, type its name, %s: ' "$cluster"
    read -r confirmed && [ "$confirmed" = "$cluster" ] || {
      stop 4 'the name of the cluster was not typed, so the cluster was not stopped.'
      return 1
    }
  fi
  if [ "$pass" -gt 1 ]; then
    if [ "$pass" != "$asked_pass" ]; then
      asked_pass=$pass wanted=
      ! agreed 'This pass shortens the downtime if the pass before took long. Run it?' || wanted=yes
    fi
    [ -n "$wanted" ]
  fi
}

agreed() {
  while printf '%s [y]es, [n]o: ' "$1" && read -r answer; do
    case $answer in y | yes) return 0 ;; n | no) return 1 ;; esac
  done
  return 1
}

run() {
  ! is opens || open=yes
  opening=
  if is no-return && [ ! -e "$kept/opened" ]; then
    opening=yes
    : >"$kept/opened"
  fi
  at_step "$number"
  note "Step $number begins: $title ($side as $user)${1:+: $(words "$@")}" >/dev/null
  since=$(date +%s)
  if [ $# -gt 0 ]; then
    perform "$@"
    status=$?
    if is private; then echo '     (its output is for a later step only)'; else printed; fi
    # 69: new did not open, and nobody can have written to it
    [ "$opening$status" != yes69 ] || rm -f -- "$kept/opened"
    [ "$status" -eq 0 ] || taken_on || {
      stop 1 "it failed with exit status $status."
      return
    }
  elif agreed 'Have you done this?'; then
    : >"$folder/output"
  else
    stop 4 'it was not done.'
    return
  fi
  note "Step $number is done after $(($(date +%s) - since)) s." >/dev/null
  agrees && keep
}

# 68, of a look that a person may judge, who knows what it cannot see
taken_on() {
  is judged && [ "$status" -eq 68 ] || return 1
  printf 'If the old server is kept out on purpose, type how clients reach the new cluster. Leave it empty to stop here: '
  read -r how && [ -n "$how" ] || return 1
  note "Step $number, $title: accepted by $me: $how"
}

printed() {
  awk '{ sub(/.*\r/, "") } NR <= 40 { print "     | " $0 } END { if (NR > 40) print "     | ... " NR " lines in all" }' \
    "$folder/output" | cat -v # what a server says steers no terminal
}

agrees() {
  [ -n "$agrees" ] && [ -e "$kept/$agrees" ] || return 0
  diff -- "$kept/$agrees" "$folder/output" >"$folder/differs" && return
  cat -v "$folder/differs"
  stop 1 "its output differs from that of step $agrees, see above."
  failed=${mends:-$failed}
  return 1
}

# for a later step, also of another run; what is private not beyond this run
keep() {
  [ "$steps" = steps ] || return 0
  if is private; then
    mv -- "$folder/output" "$folder/$number"
    : >"$folder/output"
  fi
  mv -- "$folder/output" "$kept/$number"
}

take_away() {
  interrupted=
  show "$@"
  perform "$@" || note "Step $number, $title: it failed with exit status $?. Do it by hand."
}

# the call with its input; its output lies in $folder/output
perform() {
  input >"$folder/input" || return 1
  if [ "$side" = you ]; then
    sh -c "$(words "$@")" </dev/null >"$folder/output" 2>"$folder/errors"
  else
    on "$side" "$user" "$@"
  fi
  performed=$?
  if [ -s "$folder/errors" ]; then note "$(cat -v "$folder/errors")"; fi
  return "$performed"
}

input() {
  [ -z "$reads" ] || cat -- "$kept/$reads" || return 1
  [ ! -f "$folder/$reads" ] || cat -- "$folder/$reads" || return 1
  if is functions; then
    sed -n '/^# --- functions,/,/^# --- end /{/^# --- /!p;}' "$0"
    printf '%s\n' '"$@"' exit '# whole'
  fi
}

# settings, functions and call travel on ssh's standard input, which stays open: when it ends, the server ends the call
on() {
  on_side=$1
  way=$(way_to "$1" "$2") || return 1
  shift 2
  {
    echo 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH'
    cat -- "$folder/sent"
    printf 'given=$(head -c %s; echo x)\nattended %s\n# whole' "$(size input)" "$(words "$@")"
  } >"$folder/program"
  # what is not read by sudo is passed over; the last line proves that all of it came
  loader='printf "\n# begins\n"; while read -r line && [ "$line" != "# pghaul" ]; do :; done; program=$(head -c "$1"); '
  loader="$loader"'case $program in *"# whole") eval "$program" ;; *) exit 1 ;; esac'
  rm -f -- "$folder/line"
  mkfifo -- "$folder/line" || return 1
  # both ends at once: an opening that waits for the other end could be broken off by a signal, or wait for ever
  # shellcheck disable=SC2094 # it is no file
  command exec 7<>"$folder/line" 8<"$folder/line" 9>"$folder/line" 7<&- || return 1
  (
    exec <&8 8<&- 9>&- # by exec: around a function a shell would keep its own end open, and none would ever come to ssh
    "$on_side" "exec ${way}sh -c $(words "$loader") sh $(size program)"
  ) >"$folder/received" 2>"$folder/errors" &
  exec 8<&-
  if [ -n "$interrupted" ]; then exec 9>&-; else feed >&9 2>/dev/null; fi
  wait "$!"
  on_status=$?
  if [ -n "$interrupted" ]; then wait "$!"; fi
  exec 9>&-
  sed '1,/^# begins$/d' "$folder/received" >"$folder/output"
  return "$on_status"
}

# a sudo that asks gets its password first; in a process of its own, for ssh may be gone
feed() (
  case $way in *' -S '*) of "$on_side" "$old_password" "$new_password" ;; esac
  echo '# pghaul'
  cat -- "$folder/program" "$folder/input"
)

# the words ahead of a command, by which the login becomes that user
way_to() {
  login=$(of "$1" "$old_login" "$new_login")
  case $2:$login:$(of "$1" "$old_rights" "$new_rights") in
    "$login:"*) ;;
    *:root:*) echo "runuser -u $(words "$2") -- " ;;
    *:sudo-password) echo "env LC_ALL=C sudo -k -S -p '' -u $(words "$2") -- " ;;
    *:none)
      echo "On the $1 server $login may not run commands as $2." >"$folder/errors"
      return 1
      ;;
    *) echo "env LC_ALL=C sudo -n -u $(words "$2") -- " ;;
  esac
}

of() { if [ "$1" = old ]; then printf '%s\n' "$2"; else printf '%s\n' "$3"; fi; }

meet() {
  login=$("$1" 'id -un' </dev/null 2>"$folder/errors") || {
    note "The $1 server cannot be reached: $(cat -v "$folder/errors")"
    return 1
  }
  login=$(printf '%s\n' "$login" | tail -n 1) password=
  case $login:$(of "$1" "$old_rights" "$new_rights") in
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

# pghaul takes the same lock
lock() {
  : >"$folder/input"
  on "$1" "$(of "$1" "$old_owner" "$new_owner")" "$3" "$(of "$1" "$old_lock" "$new_lock")" "$4" && return
  note "The $1 server cannot be $2: $(cat -v "$folder/errors")"
  return 1
}

# one connection a server for all steps; ssh_control ends it
ssh() {
  # shellcheck disable=SC2086 # two words or none
  command ssh ${ssh_control-} -o ControlMaster=auto -o "ControlPath=$folder/%C" -o ControlPersist=600 \
    -o ConnectTimeout=20 -o ServerAliveInterval=15 "$@"
}

# as the shell reads them again
words() {
  all=
  for each; do
    case $each in
      '' | *[!A-Za-z0-9_@%+=:,./-]*) each="'$(printf '%s\n' "$each" | sed "s/'/'\"'\"'/g")'" ;;
    esac
    all="$all $each"
  done
  printf '%s' "${all# }"
}

size() { printf '%s' "$(($(wc -c <"$folder/$1")))"; }

note() {
  printf '%s\n' "$1"
  printf '%s %s\n' "$(date -u '+%Y-%m-%d %H:%M:%S')" "$1" >>"$log"
}
