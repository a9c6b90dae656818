# What listens on this host, of any user. A server that is to start here may find its port in use.

# listening_sockets   Print `listed`, then `tcp ADDRESS PORT PROCESS NAME` for each TCP socket that listens on this
# host, and `unix PROCESS NAME PATH` for each Unix socket with a name of PostgreSQL's kind. PROCESS is 0 and NAME is `-`
# if they cannot be seen. The sockets of processes in another container, and without root those of other users'
# processes, are not visible. Source: proc(5), /proc/PID/net.
listening_sockets() {
  # Some processes end meanwhile, and find then fails.
  listening_held=$(find /proc/[0-9]*/fd -lname 'socket:*' -printf '%l %h\n' 2>/dev/null) || true
  echo listed
  for listening_file in tcp tcp6 unix; do
    [ -e "/proc/net/$listening_file" ] || continue # a kernel without IPv6
    case $listening_file in
      unix)
        listening_lines=$(
          awk '$4 == "00010000" && $8 ~ /^\/.*\/[.]s[.]PGSQL[.][0-9]+$/ { print $7, $8 }' /proc/net/unix
        ) || fail 'awk failed'
        ;;
      *) listening_lines=$(awk '$4 == "0A" { print $10, $2 }' "/proc/net/$listening_file") || fail 'awk failed' ;;
    esac
    [ -z "$listening_lines" ] || printf '%s\n' "$listening_lines" | print_listening_sockets "$listening_file" || exit
  done
}

# print_listening_sockets FILE   Print the line of listening_sockets for each line `INODE PLACE` on standard input,
# which comes from /proc/net/FILE.
print_listening_sockets() {
  while read -r each_inode each_place; do
    each_holder=$(printf '%s\n' "$listening_held" |
      sed -n "s,^socket:\\[$each_inode\\] /proc/\\([0-9]*\\)/fd\$,\\1,p") || fail 'sed failed'
    each_holder=${each_holder%%
*}
    each_program=-
    [ -z "$each_holder" ] || { read -r each_program <"/proc/$each_holder/comm"; } 2>/dev/null ||
      each_holder='' each_program=-
    each_program=$(printf '%s\n' "$each_program" | tr -c '[:alnum:]:.@_\n-' '?') || fail 'tr failed'
    if [ "$1" = unix ]; then
      printf 'unix %s %s %s\n' "${each_holder:-0}" "$each_program" "$each_place"
    else
      each_address=$(address_text "${each_place%:*}") || exit
      printf 'tcp %s %d %s %s\n' "$each_address" "0x${each_place##*:}" "${each_holder:-0}" "$each_program"
    fi
  done
}
