# Configuration that lies outside of the data directory, as Debian's in /etc/postgresql.

# pack_configuration FOLDER   print it as an archive in base64, and the end mark
# tar runs base64 itself and so ends badly where that does.
pack_configuration() {
  tar -C "$1" -I base64 -cf - . || fail "$1 could not be packed"
  end_mark
}

# unpack_configuration FOLDER USER   put the archive on standard input there, USER's own; what lies there first is kept beside
unpack_configuration() {
  configuration=$(take_whole) || exit
  if [ -e "$1" ] && [ ! -e "$1.before-pghaul" ]; then
    mv -- "$1" "$1.before-pghaul" || fail "$1 cannot be kept beside"
  fi
  install -d -m 0755 -o "$2" -- "$1" || fail "$1 cannot be made"
  printf '%s' "$configuration" | tar -C "$1" -I base64 -xf - || fail "$1 could not be unpacked"
  chown -R "$2:" -- "$1" || fail "$1 cannot be given to $2"
}
