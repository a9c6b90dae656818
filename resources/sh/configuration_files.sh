# The configuration files of a cluster, as the server would read them when it starts: postgresql.conf with the files
# that it includes, pg_hba.conf and pg_ident.conf with the files that they include and the lists that they name with @.
# Syntax: guc-file.l, guc.c (GUC_scanstr), hba.c (next_token, tokenize_auth_file); PostgreSQL's manual, chapters 20.1.5
# and 21.1.

# cluster_configuration   Print one line for each configuration file, and one for each setting with the data directory.
# Prints `file NUMBER FAMILY MODE STATE WRITTEN BY PATH` for each file. FAMILY is settings, rules or list. MODE is
# required, optional or folder (all *.conf in it). STATE is file, folder, missing, unreadable or odd. WRITTEN is
# absolute or relative. BY is the number of the file that names it. The server itself has the number 0 and names the
# first four files. PATH is in hexadecimal digits. Prints `mention NUMBER LINE SETTING` for each line of file NUMBER
# whose value contains a path to the data directory, also through a symbolic link. The last line is `whole`.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open
cluster_configuration() {
  find_first_files
  configuration_todo="settings required 0 absolute 0 $first_config
settings optional 0 absolute 0 $cluster_folder/postgresql.auto.conf
rules required 0 absolute 0 $first_hba
rules required 0 absolute 0 $first_ident
"
  configuration_number=0
  while [ -n "$configuration_todo" ]; do
    configuration_line=${configuration_todo%%
*}
    configuration_todo=${configuration_todo#*
} && print_configuration_file "$configuration_line"
  done
  echo whole
}

# find_first_files   Set first_config, first_hba and first_ident, the paths of the files that the server reads first.
# A running server is asked for them. For a stopped cluster these are the files that a start would read.
find_first_files() {
  first_config=$cluster_config
  if [ -n "$cluster_pid" ]; then
    sql_reach
    sql_environment
    require_free_slot
    sql_find_home
    first_question="select current_setting(name) from unnest(array['config_file', 'hba_file', 'ident_file']) as name;"
    first_said=$(printf '%s\n' "$first_question" | run_psql "$sql_home" -v ON_ERROR_STOP=1) ||
      fail 'psql failed, so the location of the configuration is not known'
    first_config=$(first_line "$first_said")
    first_ident=$(last_line "$first_said")
    first_hba=$(printf '%s\n' "$first_said" | sed -n 2p) || fail 'sed failed'
    return 0
  fi
  [ -n "$first_config" ] || first_config=$cluster_folder/postgresql.conf
  [ -x "$cluster_programs/postgres" ] ||
    fail "no server program of PostgreSQL ${cluster_series:-of an unknown version} was found"
  set -- -D "$cluster_folder" -c "config_file=$first_config" ${cluster_hba:+-c "hba_file=$cluster_hba"} \
    ${cluster_ident:+-c "ident_file=$cluster_ident"}
  first_hba=$(LC_ALL=C "$cluster_programs/postgres" -C hba_file "$@" 2>/dev/null) ||
    first_hba=$cluster_folder/pg_hba.conf
  first_ident=$(LC_ALL=C "$cluster_programs/postgres" -C ident_file "$@" 2>/dev/null) ||
    first_ident=$cluster_folder/pg_ident.conf
}

# print_configuration_file "FAMILY MODE DEPTH WRITTEN BY PATH"
# Print the line of this file, and append the files that it names to configuration_todo. All fields are one argument.
# PostgreSQL does not read files that are nested more than ten levels deep (CONF_FILE_MAX_DEPTH).
print_configuration_file() {
  one_rest=$1
  one_family=${one_rest%% *} one_rest=${one_rest#* }
  one_mode=${one_rest%% *} one_rest=${one_rest#* }
  one_depth=${one_rest%% *} one_rest=${one_rest#* }
  one_written=${one_rest%% *} one_rest=${one_rest#* }
  one_by=${one_rest%% *} one_path=${one_rest#* }
  configuration_number=$((configuration_number + 1))
  [ "$configuration_number" -le 1000 ] || fail 'the configuration files include more than 1000 others'
  one_state=$(print_file_state "$one_mode" "$one_path") || exit
  one_digits=$(hex "$one_path") || exit
  printf 'file %s %s %s %s %s %s %s\n' "$configuration_number" "$one_family" "$one_mode" "$one_state" "$one_written" \
    "$one_by" "$one_digits"
  case $one_depth-$one_state in 10-* | *-missing | *-unreadable | *-odd) return 0 ;; *) ;; esac
  one_names=$(list_named_files "$one_family" "$one_state" "$one_path") || exit
  one_folder=${one_path%/*}
  [ "$one_state" = file ] || one_folder=$one_path
  while [ -n "$one_names" ]; do
    one_name=${one_names%%
*}
    case $one_names in *"
"*) one_names=${one_names#*
} ;; *) one_names='' ;; esac
    queue_named_file "$one_name"
  done
}

# queue_named_file LINE   Handle a line of list_named_files: print a mention, or append a file to configuration_todo.
queue_named_file() {
  case $1 in
    'mention '*) printf 'mention %s %s\n' "$configuration_number" "${1#* }" ;;
    *)
      named_path=${1#* * }
      named_kind=${1%" $named_path"}
      named_written=absolute
      case $named_path in /*) ;; *) named_written=relative named_path=$one_folder/$named_path ;; esac
      named_kind="$named_kind $((one_depth + 1)) $named_written $configuration_number"
      configuration_todo="$configuration_todo$named_kind $named_path
"
      ;;
  esac
}

# print_file_state MODE PATH   Print file or folder, or the reason why PATH is not read: missing, unreadable or odd.
# Anything else, such as a FIFO, is odd and not opened, because it could block for ever. So is a file above 16 MiB.
print_file_state() {
  if [ -d "$2" ]; then
    if [ "$1" != folder ]; then
      echo odd
    elif [ -r "$2" ] && [ -x "$2" ]; then
      echo folder
    else
      echo unreadable
    fi
  elif [ -f "$2" ]; then
    state_bytes=$(stat -L -c %s -- "$2") || fail "$2 cannot be examined"
    if [ "$1" = folder ] || [ "$state_bytes" -gt 16777216 ]; then
      echo odd
    elif [ -r "$2" ]; then
      echo file
    else
      echo unreadable
    fi
  elif [ -e "$2" ]; then
    echo odd
  else
    echo missing
  fi
}

# list_named_files FAMILY STATE PATH   Print `FAMILY MODE PATH` for each file that PATH names, in their order there.
# Prints `mention LINE SETTING` for each setting that contains a path to the data directory.
list_named_files() {
  case $1-$2 in
    *-folder) list_included_folder "$1" "$3" ;;
    settings-*) list_included_settings "$3" ;;
    *) parse_rules "$1" "$3" ;;
  esac
}

# list_included_folder FAMILY FOLDER   Print the files that include_dir reads, in its order.
# These are the files *.conf, except folders and names that begin with a full stop.
list_included_folder() {
  folder_names=$(find "$2/" -maxdepth 1 -name '*.conf' ! -name '.*' ! -name '*[[:cntrl:]]*' ! -xtype d \
    -printf "$1 required %f\\n") || fail "$2 cannot be read"
  [ -z "$folder_names" ] || printf '%s\n' "$folder_names" | sort || fail 'sort failed'
}

# list_included_settings FILE   Print the lines of list_named_files for postgresql.conf or a file with the same syntax.
list_included_settings() {
  settings_said=$(parse_settings "$1") || exit
  settings_data=$(readlink -f -- "$cluster_folder") || fail "the path $cluster_folder cannot be resolved"
  [ -z "$settings_said" ] || printf '%s\n' "$settings_said" | while IFS= read -r settings_line; do
    case $settings_line in
      'path '*)
        settings_value=${settings_line#path * * }
        settings_line=${settings_line%" $settings_value"}
        ! leads_into "$settings_data" "$settings_value" || printf 'mention %s\n' "${settings_line#path }"
        ;;
      *) printf '%s\n' "$settings_line" ;;
    esac
  done
}

# leads_into FOLDER VALUE   Succeed if VALUE, or a word in it, is a path into FOLDER. Symbolic links are followed.
leads_into() {
  inside_folder=$1 inside_value=$2 inside_between=$IFS
  set -f
  IFS=" ,;:='\"()<>|&"
  # shellcheck disable=SC2086 # the value is split into words on purpose
  set -- "$inside_value" $inside_value
  set +f
  IFS=$inside_between
  for inside_word; do
    case $inside_word in /*) ;; *) continue ;; esac
    inside_path=$(readlink -m -- "$inside_word") || continue
    case $inside_path/ in "$inside_folder"/*) return 0 ;; *) ;; esac
  done
  return 1
}

# parse_settings FILE   Print the files that FILE includes and its mentions, as list_named_files does.
# Prints `path LINE SETTING VALUE` for each other setting whose value contains a slash. The caller resolves its links.
parse_settings() {
  data=$cluster_folder awk -v quote="'" '
    function value(rest, said, i, c) {
      if (substr(rest, 1, 1) != quote) {
        match(rest, /^[^ \t\r\f#]*/)
        return substr(rest, 1, RLENGTH)
      }
      for (i = 2; i <= length(rest); i++) {
        c = substr(rest, i, 1)
        if (c == quote) {
          if (substr(rest, i + 1, 1) != quote) return said
          i++
        } else if (c == "\\") c = substr(rest, ++i, 1)
        said = said c
      }
      return said
    }
    function names_data(said, at, ahead, behind) {
      data = ENVIRON["data"] # -v would interpret backslashes in it
      while (at = index(said, data)) {
        if (at > 1) ahead = substr(said, at - 1, 1)
        behind = substr(said, at + length(data), 1)
        if (ahead !~ /[A-Za-z0-9_.\/-]/ && behind !~ /[A-Za-z0-9_.-]/) return 1
        ahead = substr(data, length(data))
        said = substr(said, at + length(data))
      }
      return 0
    }
    {
      line = $0
      sub(/^[ \t\r\f]+/, "", line)
      if (!match(line, /^[A-Za-z_][A-Za-z0-9_.$]*/)) next
      name = tolower(substr(line, 1, RLENGTH))
      line = substr(line, RLENGTH + 1)
      sub(/^[ \t\r\f]*=?[ \t\r\f]*/, "", line)
      said = value(line)
      if (name == "include") print "settings required " said
      else if (name == "include_if_exists") print "settings optional " said
      else if (name == "include_dir") print "settings folder " said
      else if (names_data(said)) print "mention " NR " " name
      else if (index(said, "/")) print "path " NR " " name " " said
    }' <"$1" || fail "$1 cannot be read"
}

# parse_rules FAMILY FILE   Print the files that pg_hba.conf, pg_ident.conf or a list for them includes.
# Files of the family rules can include others from PostgreSQL 16 on. From 14 on, a backslash at the end of a line
# continues it on the next line.
parse_rules() {
  rules_rank=${cluster_series%%.*}
  [ "$1" = rules ] || rules_rank=0
  awk -v series="$rules_rank" '
    function token_ends() {
      if (!begun) return
      words++
      if (words == 1) first = said
      if (words == 2) second = said
      if (list && said != "") print "list required " said
      begun = list = 0
      said = ""
    }
    function scan(text, i, c, quoted) {
      begun = list = words = quoted = 0
      said = first = second = ""
      for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "\"") {
          if (quoted && substr(text, i + 1, 1) == "\"") said = said substr(text, ++i, 1)
          else quoted = !quoted
          begun = 1
        } else if (quoted) said = said c
        else if (c == "#") break
        else if (c ~ /[ \t\r\f\v,]/) token_ends()
        else if (!begun && c == "@") begun = list = 1
        else { begun = 1; said = said c }
      }
      token_ends()
      if (series < 16 || words != 2) return
      if (first == "include") print "rules required " second
      else if (first == "include_if_exists") print "rules optional " second
      else if (first == "include_dir") print "rules folder " second
    }
    {
      text = text $0
      if ((series >= 14 || !series) && text ~ /\\$/) { text = substr(text, 1, length(text) - 1); next }
      scan(text)
      text = ""
    }
    END { if (text != "") scan(text) }' <"$2" || fail "$2 cannot be read"
}
