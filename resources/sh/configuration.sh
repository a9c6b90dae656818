# Configuration that lies outside of the data directory, as Debian's in /etc/postgresql. PATHs stand below FOLDER, which is /.

# pack_configuration FOLDER [-h] -- PATH...   print what lies there as an archive in base64, and the end mark; -h: for links their files
# tar runs base64 itself and so ends badly where that does.
pack_configuration() {
  enter "$1"
  shift
  tar -I base64 -cf - "$@" || fail "the configuration could not be packed: $*"
  end_mark
}

# unpack_configuration FOLDER KEPT USER PATH...   put those of the archive on standard input there, USER's own
# What lies there first is put aside in the archive KEPT: beside it, it would pass for another cluster's.
unpack_configuration() {
  configuration=$(take_whole) || exit
  enter "$1"
  unpack_kept=$2 unpack_user=$3
  shift 3
  [ -e "$unpack_kept" ] || (put_aside "$unpack_kept" "$@") || exit # of an earlier try it stays as it is
  rm -rf -- "$@" || fail "$* cannot be replaced"
  umask 022 # for folders above, which others pass through
  printf '%s' "$configuration" | tar -I base64 -xf - -- "$@" || fail "$* could not be unpacked"
  chown -R "$unpack_user:" -- "$@" || fail "$* cannot be given to $unpack_user"
}

# put_aside KEPT PATH...   here: those that are there, in the archive KEPT, which may hold nothing
put_aside() {
  aside_kept=$1
  shift
  for aside_path; do
    shift
    if [ -e "$aside_path" ] || [ -L "$aside_path" ]; then set -- "$@" "$aside_path"; fi
  done
  umask 077
  install -d -m 0700 -- "${aside_kept%/*}" || fail "${aside_kept%/*} cannot be made"
  whole "$aside_kept" tar -cf - -T /dev/null -- "$@"
  flush "${aside_kept%/*}"
}

# restore_configuration FOLDER KEPT PATH...   what was put aside in KEPT, in place of ours; without KEPT nothing is done
restore_configuration() {
  [ -e "$2" ] || return 0
  enter "$1"
  restore_kept=$2
  shift 2
  rm -rf -- "$@" || fail "$* cannot be replaced"
  tar -xpf "$restore_kept" || fail "$restore_kept could not be unpacked"
  for restore_path; do
    [ ! -d "${restore_path%/*}" ] || rmdir --ignore-fail-on-non-empty -- "${restore_path%/*}" ||
      fail "${restore_path%/*} cannot be removed"
  done
  rm -f -- "$restore_kept" || fail "$restore_kept cannot be removed"
  rmdir --ignore-fail-on-non-empty -- "${restore_kept%/*}" || fail "${restore_kept%/*} cannot be removed"
}
