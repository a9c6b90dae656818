# Configuration that lies outside of the data directory, as Debian's in /etc/postgresql. PATHs stand below FOLDER, which is /.
# What comes from old is data: on new it is put there as the database user's, files and folders alone.

# pack_configuration FOLDER PATH...   print what lies there as an archive in base64, and the end mark; of a link the file it leads to
# Other links stay: in Debian's folder one may lead to the data. Of a PATH itself that is a link -xtype would look at the link.
# tar runs base64 itself and so ends badly where that does.
pack_configuration() {
  enter "$1"
  shift
  [ $# -gt 0 ] || fail 'no configuration is named' # find would take all that lies here
  pack_names=$(find -H "$@" \( -type d -o -type f -o -xtype f \) -print) || fail "the configuration cannot be read: $*"
  printf '%s\n' "$pack_names" | tar -I base64 -h --hard-dereference --no-recursion --no-unquote -cf - -T - ||
    fail "the configuration could not be packed: $*"
  end_mark
}

# packable PATH...   on old, as who packs: all of it can be read
packable() {
  packable_not=$(find -H "$@" \( -type d ! \( -readable -executable \) -o \( -type f -o -xtype f \) ! -readable \) -print -prune) ||
    fail "the configuration cannot be read: $*"
  [ -z "$packable_not" ] || fail "$(id -un) cannot read $packable_not: let it, or move that away"
}

# unpack_configuration FOLDER KEPT USER TARGET PATH...   as root: put those of the archive on standard input there, as USER
# What lies there first is put aside in the archive KEPT: beside it, it would pass for another cluster's.
unpack_configuration() {
  configuration=$(take_whole) || exit
  unpack_types=$(printf '%s' "$configuration" | tar -I base64 -tvf -) || fail 'the configuration is no archive'
  case "
$unpack_types" in
    *"
"[!d-]*) fail 'the configuration of old holds what is neither file nor folder' ;;
    *) ;;
  esac
  unpack_folder=${1%/} unpack_kept=$2 unpack_user=$3 unpack_target=$4
  enter "$1"
  shift 4
  if [ ! -e "$unpack_kept" ]; then # of an earlier try it stays as it is, and what lies there is old's
    replaceable "$unpack_user" "$unpack_target" "$@"
    (put_aside "$unpack_kept" "$unpack_user" "$@") || exit
  fi
  run_as "$unpack_user" rm -rf -- "$@" || fail "$* cannot be replaced"
  for unpack_path; do
    unpack_above=$unpack_folder/${unpack_path%/*}
    [ -d "$unpack_above" ] || (give_folder "$unpack_user" "$unpack_above" 0755) || exit
  done
  umask 022 # others read Debian's, to tell which clusters there are
  printf '%s' "$configuration" | run_as "$unpack_user" tar -I base64 --no-same-owner --no-same-permissions -xf - -- "$@" ||
    fail "$* could not be unpacked"
  keys_for_owner "$unpack_user" "$unpack_types" "$@"
}

# keys_for_owner USER TYPES PATH...   here: what on old is root's, and its group's but no other's to read, is USER's alone
# A server takes a key that its group can read only from root (check_ssl_key_file_permissions, be-secure-common.c). TYPES is what
# `tar -tv` says of the archive that was unpacked.
keys_for_owner() {
  keys_user=$1
  keys_names=$(printf '%s\n' "$2" | sed -n 's/^-...r..--- root\/[^ ]* *[0-9]* [^ ]* [^ ]* //p') || fail 'sed failed'
  shift 2
  [ -n "$keys_names" ] || return 0
  keys_there=$(find "$@" -type f -perm /g=r -print) || fail "$* cannot be read"
  printf '%s\n' "$keys_names" | while IFS= read -r keys_one; do
    case "
$keys_there
" in *"
$keys_one
"*) run_as "$keys_user" chmod go= -- "$keys_one" </dev/null || fail "$keys_one cannot be closed to others" ;; *) ;; esac
  done || exit
}

# replaceable USER TARGET PATH...   on new, as root: USER can take them away and bring them back as they were, and no cluster but that
# in TARGET is configured by them
replaceable() {
  replace_user=$1 replace_target=$2
  shift 2
  for replace_path; do
    replace_above=${replace_path%/*}
    [ ! -d "$replace_above" ] || run_as "$replace_user" test -w "$replace_above" ||
      fail "$replace_user can put nothing into $replace_above of new: give it to $replace_user"
    [ -e "$replace_path" ] || [ -L "$replace_path" ] || continue
    replace_others=$(find "$replace_path" ! -user "$replace_user" -print -quit) || fail "$replace_path cannot be read"
    [ -z "$replace_others" ] || fail "$replace_others of new is not $replace_user's: give it to $replace_user, or move it away"
  done
  of_no_other "$replace_target" "$@"
}

# of_no_other TARGET PATH...   here: fails where a file of settings in a PATH names a data directory in which another cluster lies than in
# TARGET, whether it runs or not: without that file it could not be started
of_no_other() {
  other_target=$1
  # shellcheck disable=SC2034 # for settings_lines: no data directory
  cluster_folder=-
  shift
  for other_path; do
    [ -e "$other_path" ] || continue
    other_files=$(find -H "$other_path" -type f \( -name '*.conf' -o -samefile "$other_path" \) -print) ||
      fail "$other_path cannot be read"
    [ -z "$other_files" ] || printf '%s\n' "$other_files" | while IFS= read -r other_file; do
      other_said=$(settings_lines "$other_file") || exit
      printf '%s\n' "$other_said" | while IFS= read -r other_line; do
        other_data=${other_line#path * data_directory }
        [ "${other_line#path * }" = "data_directory $other_data" ] || continue
        [ -e "$other_data/PG_VERSION" ] || [ -e "$other_data/pghaul-fence/PG_VERSION" ] || continue
        [ "$other_data" -ef "$other_target" ] ||
          fail "$other_file of the new server configures another cluster, in $other_data, which could not be started without it. Give" \
            "that cluster a configuration elsewhere (Debian's: pg_renamecluster), or remove $other_data if nobody needs it"
      done || exit
    done || exit
  done
}

# put_aside KEPT USER PATH...   here: those that are there, in the archive KEPT, which may hold nothing
put_aside() {
  aside_kept=$1 aside_user=$2
  shift 2
  for aside_path; do
    shift
    if [ -e "$aside_path" ] || [ -L "$aside_path" ]; then set -- "$@" "$aside_path"; fi
  done
  umask 077
  install -d -m 0700 -- "${aside_kept%/*}" || fail "${aside_kept%/*} cannot be made"
  whole "$aside_kept" run_as "$aside_user" tar -cf - -T /dev/null -- "$@"
  flush "${aside_kept%/*}"
}

# restore_configuration FOLDER KEPT USER PATH...   what was put aside in KEPT, in place of ours; without KEPT nothing is done
restore_configuration() {
  [ -e "$2" ] || return 0
  enter "$1"
  restore_kept=$2 restore_user=$3
  shift 3
  run_as "$restore_user" rm -rf -- "$@" || fail "$* cannot be replaced"
  run_as "$restore_user" tar -xpf - <"$restore_kept" || fail "$restore_kept could not be unpacked"
  for restore_path; do
    # in a folder of root's it stays, empty
    run_as "$restore_user" rmdir --ignore-fail-on-non-empty -- "${restore_path%/*}" 2>/dev/null
  done
  rm -f -- "$restore_kept" || fail "$restore_kept cannot be removed"
  rmdir --ignore-fail-on-non-empty -- "${restore_kept%/*}" || fail "${restore_kept%/*} cannot be removed"
}

# readable_files PATH...   as the database user: each is a file that it can read
readable_files() {
  for readable_path; do
    [ -f "$readable_path" ] && [ -r "$readable_path" ] ||
      fail "new has no $readable_path that its database user can read: make it, from old's"
  done
}
