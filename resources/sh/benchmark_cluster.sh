# The database that pgbench uses: a temporary cluster in the benchmark's folder, or a database in a running cluster.
# All functions are called with the benchmark's folder as working directory. If root runs the benchmark, every program
# of PostgreSQL and everything that reads or writes in the owner's folder runs as the cluster's owner. Root must not
# follow paths that another user can change.

# temporary_cluster_at NAME OWNER PATH PORT   Set the variables with which owner_run reaches the temporary cluster.
# NAME: the cluster's folder. OWNER: the user who runs it. PATH: where its programs are found. PORT: its port.
temporary_cluster_at() {
  temporary=$1 owner=$2 owner_path=$3 owner_port=$4 owner_role=pghaul owner_database=postgres
  owner_host=$(pwd -P)/$1 || fail 'the folder of the benchmark cannot be resolved'
  owner_measures=$(id -u) || fail 'id failed'
}

# owner_run COMMAND...   Run COMMAND with the settings for a connection to the cluster.
# If root runs the benchmark, COMMAND runs as the cluster's owner.
owner_run() {
  set -- env PATH="$owner_path" PGHOST="$owner_host" PGPORT="$owner_port" PGDATABASE="$owner_database" \
    ${owner_role:+"PGUSER=$owner_role"} "$@"
  if [ "$owner_measures" -eq 0 ]; then
    runuser -u "$owner" -- "$@"
  else
    "$@"
  fi
}

# temporary_cluster_make NAME OWNER PATH PORT SERIES SYNC SCALE SETTING...
# Create the temporary cluster and fill it with pgbench's tables. An existing one is removed first.
# SERIES: the major version that the programs must have; empty: any. SYNC: an option of initdb, or empty.
# SCALE: pgbench's scale factor. SETTING: a line of postgresql.conf. If PGPASSWORD is set, pgbench can log in with it
# from the network. Fails if the programs have another major version, or if one of them fails.
temporary_cluster_make() {
  umask 077
  temporary_cluster_at "$1" "$2" "$3" "$4"
  make_series=$5 make_sync=$6 make_scale=$7
  temporary_cluster_folder
  bench_note_undo "$1" temporary_cluster_remove_segment "$1" "$2" "$3"
  temporary_cluster_init "$make_sync"
  make_is=$(owner_run cat "$temporary/data/PG_VERSION") || fail 'initdb did not create a cluster'
  [ "${make_series:-$make_is}" = "$make_is" ] ||
    fail "the programs that were found belong to PostgreSQL $make_is," \
      "but the cluster of the move is PostgreSQL $make_series"
  shift 7
  temporary_cluster_configure "$@"
  temporary_cluster_start
  owner_run pgbench -i -s "$make_scale" || {
    temporary_cluster_stop immediate
    fail 'pgbench could not fill the cluster'
  }
  temporary_cluster_stop fast
}

# temporary_cluster_folder   Create the cluster's folder with mode 0700 for its owner. An existing one is removed first.
temporary_cluster_folder() {
  chmod 711 . || fail 'the owner of the cluster cannot be given access to the folder of the benchmark'
  rm -rf -- "$temporary" || fail "$temporary cannot be removed"
  mkdir -m 700 -- "$temporary" || fail "$temporary cannot be created"
  [ "$owner_measures" -ne 0 ] || chown -- "$owner" "$temporary" || fail "$temporary cannot be given to $owner"
}

# temporary_cluster_init SYNC   Run initdb, with the option SYNC if it is not empty.
# The role `pghaul` gets the password in PGPASSWORD.
temporary_cluster_init() {
  (PATH=$owner_path && command -v initdb >/dev/null) ||
    fail 'the program initdb, which creates a cluster, was not found'
  printf '%s\n' "${PGPASSWORD:-none}" | owner_run tee "$temporary/password" >/dev/null ||
    fail 'the password file cannot be written'
  init_said=$(owner_run initdb -D "$temporary/data" -U pghaul -A trust -E UTF8 --locale=C \
    --pwfile="$temporary/password" ${1:+"$1"} 2>&1) || fail "initdb failed: $init_said"
  owner_run rm -f -- "$temporary/password" || fail 'the password cannot be removed'
}

# temporary_cluster_configure SETTING...   Write pg_hba.conf, and append each SETTING to the postgresql.conf that initdb
# wrote.
temporary_cluster_configure() {
  {
    echo 'local all all trust'
    [ -z "$PGPASSWORD" ] || printf 'host all all %s md5\n' 0.0.0.0/0 ::/0
  } | owner_run tee "$temporary/data/pg_hba.conf" >/dev/null || fail 'pg_hba.conf cannot be written'
  printf '%s\n' "$@" | owner_run tee -a "$temporary/data/postgresql.conf" >/dev/null ||
    fail 'postgresql.conf cannot be written'
}

# temporary_cluster_start   Start the cluster, and wait until it accepts connections. From then on TERM stops it
# immediately. Fails if it does not accept connections within two minutes. -k: the socket is created in the cluster's
# own folder, where no socket of another server can be. The path `..` stays below the length limit of sockets on every
# volume.
temporary_cluster_start() {
  trap 'temporary_cluster_stop immediate; exit 143' TERM HUP INT
  start_said=$(owner_run pg_ctl -D "$temporary/data" -o '-k ..' -l "$temporary/log" -W start 2>&1) ||
    fail "the cluster did not start: $start_said"
  start_tries=0
  until owner_run psql -X -q -c 'select 1' >/dev/null 2>&1; do
    [ $? -eq 2 ] || temporary_cluster_fail 'psql does not work' # status 2: no server answers yet
    # A server that has just been started may not have written its lock file yet. Until then pg_ctl reports no server.
    owner_run pg_ctl -D "$temporary/data" status >/dev/null 2>&1 || [ "$start_tries" -lt 25 ] ||
      temporary_cluster_fail 'the cluster did not start'
    start_tries=$((start_tries + 1))
    [ "$start_tries" -lt 600 ] || temporary_cluster_fail 'the cluster does not accept connections after two minutes'
    sleep 0.2 || temporary_cluster_fail 'the program sleep is missing'
  done
}

# temporary_cluster_fail WORDS...   Stop the server if it runs, and fail with WORDS and the last lines of its log.
temporary_cluster_fail() {
  give_up_log=$(owner_run tail -n 5 "$temporary/log" 2>&1)
  owner_run pg_ctl -D "$temporary/data" -m immediate -W stop >/dev/null 2>&1 # fails if the server does not run
  fail "$*: $give_up_log"
}

# temporary_cluster_stop MODE   Stop the cluster with pg_ctl. MODE: fast or immediate.
temporary_cluster_stop() {
  stop_said=$(owner_run pg_ctl -D "$temporary/data" -m "$1" -w -t 120 stop 2>&1) ||
    fail "the cluster did not stop: $stop_said"
}

# temporary_cluster_serve NAME OWNER PATH PORT SECONDS
# Start the cluster, print `pghaul-ready`, and stop the cluster when standard input ends or after SECONDS.
temporary_cluster_serve() {
  temporary_cluster_at "$1" "$2" "$3" "$4"
  exec 3<&0 </dev/null
  temporary_cluster_start
  echo pghaul-ready
  # The trap can only run at once while the shell is in `wait`. Therefore cat runs in the background.
  timeout "$5" cat <&3 >/dev/null &
  wait "$!"
  serve_status=$?
  temporary_cluster_stop fast
  case $serve_status in
    0 | 124) ;; # the input has ended, or the time is over
    *) fail "the end of the input could not be awaited: timeout ended with exit status $serve_status" ;;
  esac
}

# temporary_cluster_run NAME OWNER PATH PORT COMMAND...   Run COMMAND as a client of the temporary cluster.
temporary_cluster_run() {
  temporary_cluster_at "$1" "$2" "$3" "$4"
  shift 4
  owner_run "$@"
}

# temporary_cluster_remove_segment NAME OWNER PATH
# Remove the System V shared memory of a cluster whose server was killed. A server that is stopped removes it itself.
temporary_cluster_remove_segment() {
  temporary_cluster_at "$1" "$2" "$3" 5432
  [ -f "$1/data/postmaster.pid" ] || return 0 # the server was stopped
  segment_lock=$(owner_run sed -n '1p;7p' "$1/data/postmaster.pid") || fail "the lock file of $1 cannot be read"
  segment_server=${segment_lock%%[!0-9]*} segment_own=${segment_lock##* }
  while read -r _ segment_id _ _ segment_creator _; do
    if [ "$segment_id" = "$segment_own" ] && [ "$segment_creator" = "$segment_server" ]; then
      owner_run ipcrm -m "$segment_id" || fail "the shared memory $segment_id of $1 cannot be removed"
    fi
  done </proc/sysvipc/shm || fail 'the shared memory segments of this host cannot be listed'
}

# bench_database_at NAME OWNER PATH HOST PORT   Set the variables with which owner_run reaches the running cluster.
# The database's name ends in NAME. Before NAME come the random digits in which the name of the benchmark's folder ends.
bench_database_at() {
  database=$(pwd -P) || fail 'the folder of the benchmark cannot be resolved'
  database=${database##*/}
  database=pghaul_bench_${database##*-}_$1
  owner=$2 owner_path=$3 owner_host=$4 owner_port=$5 owner_role='' owner_database=postgres
  owner_measures=$(id -u) || fail 'id failed'
}

# bench_database_make NAME OWNER PATH HOST PORT DATA SCALE
# Create a database in the running cluster whose data directory is DATA, and fill it with pgbench's tables.
# Fails if DATA is not on the measured volume.
bench_database_make() {
  make_here=$(stat -c %d .) || fail 'the folder of the benchmark cannot be read'
  make_there=$(stat -c %d -- "$6") || fail "$6 cannot be read"
  [ "$make_here" = "$make_there" ] || fail "the cluster $6 is not on the measured volume"
  bench_note_undo "database-$1" bench_database_drop "$1" "$2" "$3" "$4" "$5"
  bench_database_drop "$1" "$2" "$3" "$4" "$5"
  bench_database_ask "CREATE DATABASE $database" || fail "the database $database could not be created"
  owner_database=$database
  owner_run PGOPTIONS="$database_options" pgbench -i -s "$7" || fail "pgbench could not fill $database"
}

# bench_database_options   Set database_options, the value of PGOPTIONS for all sessions of the benchmark.
# With it, no commit of the benchmark waits for a standby. Fails if the server does not answer.
bench_database_options() {
  options_version=$(owner_run psql -XAtqw -c 'show server_version_num') ||
    fail "no PostgreSQL server answers at $owner_host"
  database_options=
  [ "$options_version" -lt 90100 ] || database_options='-c synchronous_commit=local'
}

# bench_database_ask STATEMENT   Execute STATEMENT, with a limit of ten minutes.
bench_database_ask() {
  owner_run PGOPTIONS="$database_options -c statement_timeout=600000" psql -X -q -w -c "$1"
}

# bench_database_run NAME OWNER PATH HOST PORT COMMAND...   Run COMMAND as a client of the benchmark's database.
bench_database_run() {
  bench_database_at "$1" "$2" "$3" "$4" "$5"
  owner_database=$database
  shift 5
  owner_run "$@"
}

# bench_database_drop NAME OWNER PATH HOST PORT   Drop the benchmark's database if it exists.
# The session of a killed client may still use it for a moment. Therefore this is tried for ten seconds.
bench_database_drop() {
  bench_database_at "$1" "$2" "$3" "$4" "$5"
  bench_database_options
  drop_tries=0
  until drop_said=$(bench_database_ask "DROP DATABASE IF EXISTS $database" 2>&1); do
    drop_tries=$((drop_tries + 1))
    [ "$drop_tries" -lt 20 ] || fail "the database $database could not be dropped: $drop_said"
    sleep 0.5 || fail 'the program sleep is missing'
  done
}
