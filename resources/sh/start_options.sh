# The options with which a server was started, and the reason why a server did not start. A server writes its command
# line into postmaster.opts when it starts, and leaves it there when it stops.

# print_start_options DATA   Print the options of the last start there, each quoted for a shell, except those that name
# its folder and its configuration file, which are named again at each start; nothing if no server was started there.
# The file has one line with each argument between double quotes and without any escaping (CreateOptsFile, postmaster.c;
# read_post_opts, pg_ctl.c). What cannot be told apart is refused, never guessed. So is an empty file or a NUL, which a
# crash of the host may leave there, and what is longer than 64 KiB.
print_start_options() {
  parse_start_options "$1" options
}

# print_start_files DATA   Print NAME=PATH for each option of the last start there that names its folder or one of its
# files: `-D`, config_file, data_directory, hba_file and ident_file. Of several the last one counts.
print_start_files() {
  parse_start_options "$1" files
}

# parse_start_options DATA KIND   Print what print_start_options or print_start_files does. KIND is options or files.
parse_start_options() {
  [ -e "$1/postmaster.opts" ] || return 0
  { # A shell drops a NUL, and not every awk reads on after one.
    tr '\000' '\001' <"$1/postmaster.opts" || echo '"'
  } | awk -v quote="'" -v kind="$2" '
    function put(word) {
      if (kind == "files") return
      gsub(quote, quote "\\\\" quote quote, word)
      printf " %s%s%s", quote, word, quote
    }
    function of_files(text, name) {
      name = text
      sub(/=.*/, "", name)
      name = tolower(name)
      gsub(/-/, "_", name)
      if (name ~ /^(data_directory|(config|hba|ident)_file)$/ && text ~ /=/)
        files[name] = substr(text, index(text, "=") + 1)
      return name == "data_directory" || name == "config_file"
    }
    { line = $0 }
    END {
      if (NR != 1 || line !~ /^[^" ]/ || line ~ /\001/ || length(line) > 65536) exit 1
      start = index(line, " \"")
      if (!start) exit (line ~ /"/)
      line = substr(line, start + 2)
      if (line !~ /"$/) exit 1
      many = split(substr(line, 1, length(line) - 1), words, "\" \"")
      for (i = 1; i <= many; i++) if (words[i] ~ /"/ || words[i] ~ /^-[bdEeFijlnOPsT]+[Dc]/) exit 1
      # Such a first word would make it another program than a server (main.c), and no server writes one.
      if (words[1] ~ /^--[^=]*$/) exit 1
      for (i = 1; i <= many; i++) {
        word = words[i]
        if (word == "-D") files["-D"] = words[++i]
        else if (word == "-c") {
          if (!of_files(words[i + 1])) { put(word); if (i < many) put(words[i + 1]) }
          i++
        } else if (word ~ /^-D/) files["-D"] = substr(word, 3)
        else if (word ~ /^(-c|--)/ && of_files(substr(word, 3))) continue
        else {
          put(word)
          # An option of one letter with a value of its own, which may look like any other option.
          if (word ~ /^-[ABCfhkNoprStvW]$/ && i < many) put(words[++i])
        }
      }
      if (kind != "files") exit
      many = split("-D data_directory config_file hba_file ident_file", words, " ")
      for (i = 1; i <= many; i++) if (words[i] in files) print words[i] "=" files[words[i]]
    }' ||
    fail "the options with which the server in $1 was started cannot be read from $1/postmaster.opts. Start it" \
      'yourself with the options that it had, and go on'
}

# save_options DATA   Before a start with other options: keep postmaster.opts in the fence, until restore_options.
save_options() {
  restore_options "$1"
  if [ -e "$1/postmaster.opts" ]; then
    write_complete "$1/pghaul-fence/options" cat -- "$1/postmaster.opts"
  else
    write_complete "$1/pghaul-fence/options" echo none
  fi
}

# restore_options DATA   Put back the postmaster.opts that save_options has kept, or remove the one of the start since if
# there was none. Do nothing if nothing is kept.
restore_options() {
  [ -e "$1/pghaul-fence/options" ] || return 0
  options_kept=$(cat -- "$1/pghaul-fence/options") || fail "$1/pghaul-fence/options cannot be read"
  if [ "$options_kept" = none ]; then
    rm -f -- "$1/postmaster.opts" && rm -f -- "$1/pghaul-fence/options"
  else
    mv -fT -- "$1/pghaul-fence/options" "$1/postmaster.opts"
  fi || fail "$1/postmaster.opts cannot be restored"
}

# explain_failed_start DATA SINCE COMMAND...   Print in one line why the server there did not start: by the output of
# COMMAND, and by its own log if it was written since SINCE; nothing if neither gives a reason. In another language than
# English the word may not be FATAL. Then the last lines are printed.
explain_failed_start() {
  why_data=$1 why_since=$2
  shift 2
  why_said=$("$@" 2>&1) # the message says which file cannot be read
  why_log=$(print_server_log "$why_data" "$why_since")
  printf '%s\n' "$why_said" "$why_log" | awk '
    { gsub(/[[:cntrl:]]+/, " ") }
    !/[^ ]/ || /^pg_ctl: |^Examine the log output|^(waiting for server to start)?\.* stopped waiting|^-- / { next }
    /database system is shut down|starting PostgreSQL|listening on / { next }
    /redirecting log output|ending log output to|Future log output will/ { next }
    { said[++lines] = substr($0, 1, 400) }
    /(FATAL|PANIC|ERROR):/ { last = lines }
    END {
      if (!last) last = lines
      else if (last < lines && said[last + 1] ~ /(DETAIL|HINT):/) last++
      for (i = last > 3 ? last - 3 : 1; i <= last; i++) printf "%s%s", (i == 1 || i == last - 3) ? "" : " | ", said[i]
    }' || fail 'awk failed'
}

# print_server_log DATA SINCE   Print the end of the log that the logging collector there has written, if it was written
# since then; of lines in CSV or JSON, the severity and the message. current_logfiles names the log, from 10 on.
print_server_log() {
  [ -r "$1/current_logfiles" ] || return 0
  while read -r own_kind own_file; do
    case $own_kind:$own_file in
      *:) continue ;;
      csvlog:*) own_message='s/^.*,([A-Z]+),[0-9A-Z]{5},"(([^"]|"")*)".*/\1:  \2/; s/""/"/g' ;;
      jsonlog:*) own_message='s/^.*"error_severity":"([A-Z]+)".*"message":"(([^"\\]|\\.)*)".*/\1:  \2/; s/\\(.)/\1/g' ;;
      *) own_message='' ;;
    esac
    case $own_file in /*) ;; *) own_file=$1/$own_file ;; esac
    own_changed=$(stat -c %Y -- "$own_file" 2>/dev/null) || continue
    [ "$own_changed" -ge "$2" ] || continue
    tail -c 20000 -- "$own_file" | sed -E "$own_message"
    return 0
  done <"$1/current_logfiles"
}
