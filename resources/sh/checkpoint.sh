# A checkpoint of the running cluster, so that what was changed is in the files that a pass then brings, and not left to
# the stop.

# write_checkpoint DATA PATH SOCKET PORT SERIES SECONDS   Have the server in DATA write one now; a stopped one has
# written its own.
write_checkpoint() {
  [ -e "$1/postmaster.pid" ] || return 0
  shift
  connect_to "$@"
  query_cluster 'checkpoint;'
}
