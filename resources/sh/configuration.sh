# Configuration outside of the data directory, such as Debian's in /etc/postgresql. PATHs are relative to FOLDER, which
# is /. Files of the old server are data: on the new server they are written as the database user, and only files and
# folders are.

# pack_configuration FOLDER PATH...   Print these as a tar archive in base64, and the end mark; a link to a file becomes
# this file. Other links are left out: one in Debian's folder may lead to the data. If a PATH itself is a link, -xtype
# would look at the link. tar runs base64 itself and so fails if base64 does.
pack_configuration() {
  enter_folder "$1"
  shift
  [ $# -gt 0 ] || fail 'no configuration file was named' # without paths, find would list the current folder
  pack_names=$(find -H "$@" \( -type d -o -type f -o -xtype f \) -print) || fail "the configuration cannot be read: $*"
  printf '%s\n' "$pack_names" | tar -I base64 -h --hard-dereference --no-recursion --no-unquote -cf - -T - ||
    fail "the configuration could not be packed: $*"
  print_end_mark
}

# check_packable PATH...   On the old server, as the user who will pack them: fail unless all of it can be read.
check_packable() {
  packable_not=$(find -H "$@" \( -type d ! \( -readable -executable \) -o \( -type f -o -xtype f \) ! -readable \) \
    -print -prune) ||
    fail "the configuration cannot be read: $*"
  [ -z "$packable_not" ] ||
    fail "$(id -un) cannot read $packable_not. Give it permission to read the file, or move the file away"
}

# unpack_configuration FOLDER KEPT USER TARGET PATH...   As root: unpack the archive on standard input there, as USER.
# Existing files are first moved into the archive KEPT: left there, they would count as those of another cluster.
unpack_configuration() {
  configuration=$(read_complete) || exit
  unpack_types=$(printf '%s' "$configuration" | tar -I base64 -tvf -) ||
    fail 'the configuration did not arrive as an archive'
  case "
$unpack_types" in
    *"
"[!d-]*) fail 'the configuration of the old server contains something that is neither a file nor a folder' ;;
    *) ;;
  esac
  unpack_folder=${1%/} unpack_kept=$2 unpack_user=$3 unpack_target=$4
  enter_folder "$1"
  shift 4
  # An archive of an earlier try is kept, because the files there now are those of the old server.
  if [ ! -e "$unpack_kept" ]; then
    check_replaceable "$unpack_user" "$unpack_target" "$@"
    (archive_paths "$unpack_kept" "$unpack_user" "$@") || exit
  fi
  run_as "$unpack_user" rm -rf -- "$@" || fail "$* cannot be replaced"
  for unpack_path; do
    unpack_above=$unpack_folder/${unpack_path%/*}
    [ -d "$unpack_above" ] || (make_folder_for "$unpack_user" "$unpack_above" 0755) || exit
  done
  umask 022 # others read Debian's, to tell which clusters there are
  printf '%s' "$configuration" |
    run_as "$unpack_user" tar -I base64 --no-same-owner --no-same-permissions -xf - -- "$@" ||
    fail "$* could not be unpacked"
  restrict_keys "$unpack_user" "$unpack_types" "$@"
}

# restrict_keys USER TYPES PATH...   In the current folder: a key that belonged to root on the old server, and that its
# group could read, is closed to the group. A server accepts a key that its group can read only from root
# (check_ssl_key_file_permissions, be-secure-common.c). TYPES is the output of `tar -tv` on the unpacked archive.
restrict_keys() {
  keys_user=$1
  keys_names=$(printf '%s\n' "$2" | sed -n 's/^-...r..--- root\/[^ ]* *[0-9]* [^ ]* [^ ]* //p') || fail 'sed failed'
  shift 2
  [ -n "$keys_names" ] || return 0
  keys_there=$(find "$@" -type f -perm /g=r -print) || fail "$* cannot be read"
  printf '%s\n' "$keys_names" | while IFS= read -r keys_one; do
    case "
$keys_there
" in
      *"
$keys_one
"*)
        run_as "$keys_user" chmod go= -- "$keys_one" </dev/null || fail "$keys_one cannot be protected from other users"
        ;;
      *) ;;
    esac
  done || exit
}

# check_replaceable USER TARGET PATH...   On the new server, as root: fail unless USER can replace and restore these,
# and they configure no other cluster than that in TARGET.
check_replaceable() {
  replace_user=$1 replace_target=$2
  shift 2
  for replace_path; do
    replace_above=${replace_path%/*}
    [ ! -d "$replace_above" ] || run_as "$replace_user" test -w "$replace_above" ||
      fail "$replace_user cannot write to $replace_above on the new server. Make $replace_user its owner"
    [ -e "$replace_path" ] || [ -L "$replace_path" ] || continue
    replace_others=$(find "$replace_path" ! -user "$replace_user" -print -quit) || fail "$replace_path cannot be read"
    [ -z "$replace_others" ] ||
      fail "$replace_others on the new server does not belong to $replace_user. Make $replace_user its owner, or move" \
        'it away'
  done
  refuse_others_settings "$replace_target" "$@"
}

# refuse_others_settings TARGET PATH...   Fail if a settings file in a PATH names the data directory of another cluster
# than TARGET, whether it is running or not: without that file it could not be started.
refuse_others_settings() {
  other_target=$1
  # shellcheck disable=SC2034 # for parse_settings: no data directory
  cluster_folder=-
  shift
  for other_path; do
    [ -e "$other_path" ] || continue
    other_files=$(find -H "$other_path" -type f \( -name '*.conf' -o -samefile "$other_path" \) -print) ||
      fail "$other_path cannot be read"
    [ -z "$other_files" ] || printf '%s\n' "$other_files" | while IFS= read -r other_file; do
      other_said=$(parse_settings "$other_file") || exit
      printf '%s\n' "$other_said" | while IFS= read -r other_line; do
        other_data=${other_line#path * data_directory }
        [ "${other_line#path * }" = "data_directory $other_data" ] || continue
        [ -e "$other_data/PG_VERSION" ] || [ -e "$other_data/pghaul-fence/PG_VERSION" ] || continue
        [ "$other_data" -ef "$other_target" ] ||
          fail "$other_file on the new server configures another cluster, in $other_data, which could not start" \
            'without it. Give that cluster its configuration elsewhere (on Debian: pg_renamecluster), or remove' \
            "$other_data if nobody needs it"
      done || exit
    done || exit
  done
}

# archive_paths KEPT USER PATH...   Move those that exist into the archive KEPT, which may be empty.
archive_paths() {
  aside_kept=$1 aside_user=$2
  shift 2
  for aside_path; do
    shift
    if [ -e "$aside_path" ] || [ -L "$aside_path" ]; then set -- "$@" "$aside_path"; fi
  done
  umask 077
  install -d -m 0700 -- "${aside_kept%/*}" || fail "${aside_kept%/*} cannot be created"
  write_complete "$aside_kept" run_as "$aside_user" tar -cf - -T /dev/null -- "$@"
  flush_file_system "${aside_kept%/*}"
}

# restore_configuration FOLDER KEPT USER PATH...   Replace these by the contents of the archive KEPT; do nothing without
# KEPT.
restore_configuration() {
  [ -e "$2" ] || return 0
  enter_folder "$1"
  restore_kept=$2 restore_user=$3
  shift 3
  run_as "$restore_user" rm -rf -- "$@" || fail "$* cannot be replaced"
  run_as "$restore_user" tar -xpf - <"$restore_kept" || fail "$restore_kept could not be unpacked"
  for restore_path; do
    # In a folder of root it stays, empty.
    run_as "$restore_user" rmdir --ignore-fail-on-non-empty -- "${restore_path%/*}" 2>/dev/null
  done
  rm -f -- "$restore_kept" || fail "$restore_kept cannot be removed"
  rmdir --ignore-fail-on-non-empty -- "${restore_kept%/*}" || fail "${restore_kept%/*} cannot be removed"
}

# check_readable_files PATH...   As the database user: fail unless each is a file that this user can read.
check_readable_files() {
  for readable_path; do
    [ -f "$readable_path" ] && [ -r "$readable_path" ] ||
      fail "the database user cannot read $readable_path on the new server. Copy the file from the old server, and" \
        'make it readable'
  done
}
