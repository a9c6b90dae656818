"""Examples of what a host, its storage and its surroundings say; where this machine's own answer is not the same as the
next one's, the parsers' tests in tests/core/facts show more."""

from tests.resources.sh.examples import Example

_LSBLK = {"lsblk": "echo '{\"blockdevices\": []}'"}
_IP = {
    "ip": r"""case $2 in
  link) echo '1: lo: <LOOPBACK> mtu 65536 state UNKNOWN' ;;
  addr) echo '1: lo    inet 127.0.0.1/8 scope host lo' ;;
esac"""
}
_FIRST_IS_FELL_BACK_FROM = "the next best is asked"
_NOT_SEEN = {"readlink": "a folder that may not be seen is told by the arguments"}
_BOUNCER = """touch a.ini
cp /bin/sleep pgbouncer-of-an-example
./pgbouncer-of-an-example 60 >/dev/null 2>&1 &
echo $! >pid
became pgbouncer-of-an $!"""
_PROFILES = "printf '%s\\n' '/usr/bin/man (enforce)' 'PostgreSQL (enforce)' >profiles"
_SERVICE = "printf '%s\\n' Environment=SECRET=x ' ExecStart=/opt/pg/bin/postgres \\' '  -D /srv' >a.service"
_MOUNTS = "printf '%s\\n' '/dev/a /srv/a\\040b xfs rw 0 0' '/dev/b /b ext4 rw 0 0' '/dev/a /c xfs rw 0 0' >mounts"
_WHOLE: tuple[str, str, object] = ("/", "cgroup.controllers", "memory")
_GROUPS: list[tuple[str, str, list[tuple[str, str, object]], str]] = [
    (
        "version 2",
        "0::/a.slice/b c.service\\n",
        [_WHOLE, ("/a.slice", "memory.max", 3000), ("/a.slice/b c.service", "memory.max", "max")],
        "3000\n",
    ),
    (
        "the lowest of several",
        "0::/a/b/c\\n",
        [_WHOLE, ("/a", "memory.max", 5000), ("/a/b", "memory.max", 999), ("/a/b/c", "memory.max", 1000)],
        "999\n",
    ),
    (
        "version 1",
        "5:blkio:/no\\n4:cpu,memory:/x/y\\n0::/z\\n",
        [
            ("/memory/x/y", "memory.limit_in_bytes", 2**63 - 4096),
            ("/memory/x", "memory.limit_in_bytes", 5000),
            ("/blkio/no", "memory.limit_in_bytes", 1),
            ("/memory", "memory.limit_in_bytes", 2**63 - 4096),
        ],
        "5000\n",
    ),
    (
        "version 2 beside version 1",
        "1:cpu:/\\n0::/a\\n",
        [("/unified/a", "memory.max", 7), ("/a", "memory.max", 5)],
        "7\n",
    ),
    ("a container by its path on the host", "4:memory:/docker/ab\\n", [("/memory", "memory.limit_in_bytes", 8)], "8\n"),
    ("the top of a container", "0::/\\n", [_WHOLE, ("/", "memory.max", 9)], "9\n"),
    ("a group of another container", "0::/../a\\n0::/a/..\\n0::a\\n", [_WHOLE, ("/a", "memory.max", 9)], ""),
    ("no line of a group", "\\n::\\n0\\n:memory\\nx:y:z\\n", [_WHOLE, ("/", "memory.max", 9)], ""),
    ("no limit", "0::/a\\n", [_WHOLE, ("/a", "memory.max", "max")], ""),
]
"""Files of control groups: what each example is, the groups of its process, its tree, and what is printed."""
_LIMITS = {
    **dict.fromkeys(("", "lots", "-1", "0", "007", "1e9", "0x10", "12 13", "*", "9" * 19, "9" * 40), ""),
    **dict.fromkeys(("\\0001", "\\377\\n", "$(reboot)", "12;13", "12\\r\\n", "\\n12"), ""),
    "12": "12\n",
    " 12 \\n13\\n": "12\n",
    "9" * 18: "9" * 18 + "\n",
}
"""What a file with a limit says -> what is printed."""
_NO_TOOL = "what the tool does not say is not known, and the mount's options still tell some of it"

EXAMPLES = [
    Example(
        "system_facts",
        matches=r"(?s).*facts_hostname=\S+\nfacts_kernel=\S+\nfacts_architecture=\S+\nfacts_clock=\S+\nfacts_libc=.*",
        programs={"getconf": "echo glibc 2.36"},
        tolerates={"getconf": _FIRST_IS_FELL_BACK_FROM, "ldd": "an empty name is one that is not known"},
    ),
    Example("system_ids", matches=r"facts_init=.*\nfacts_time_zone=.*\nfacts_machine_id=.*\nfacts_boot_id=.*\n"),
    Example(
        "processor_facts",
        programs={"lscpu": "echo 'CPU(s): 2'"},
        matches=r"CPU\(s\): 2\nCpus_allowed_list:\s\S+\n",
        tolerates={"lscpu": _FIRST_IS_FELL_BACK_FROM},
    ),
    Example(
        "memory_facts",
        matches=r"(?s)MemTotal: .*\n(/sys/kernel/mm/hugepages/.*-\d+kB/(nr|free|resv|nr_overcommit|surplus)_.*\n)*"
        r"(control_group_limit=\d+\n)?",
    ),
    *(
        Example(
            "memory_limit",
            ("tree", "process"),
            arrange="mkdir process && printf '%b' '"
            + groups
            + "' >process/cgroup\n"
            + "\n".join(
                f"mkdir -p 'tree{place}' && echo '{said}' >'tree{place}/{file}'" for place, file, said in files
            ),
            prints=prints,
            name=name,
        )
        for name, groups, files, prints in _GROUPS
    ),
    *(
        Example(
            "memory_limit",
            ("tree", "process"),
            arrange="mkdir -p process tree/a && echo 0::/a >process/cgroup && touch tree/cgroup.controllers\n"
            f"printf '%b' '{said}' >tree/a/memory.max",
            prints=prints,
            name=f"a file with {said or 'nothing'}"[:40],
        )
        for said, prints in _LIMITS.items()
    ),
    Example(
        "memory_limit",
        ("tree", "process"),
        arrange="mkdir -p process tree/a/memory.max && echo 0::/a >process/cgroup && touch tree/cgroup.controllers",
        prints="",
        name="a folder in place of the file",
    ),
    Example("memory_limit", ("tree", "process"), prints="", name="a process that has ended"),
    Example("network_facts", programs=_IP, matches=r"(?s)1: lo: .*\n1: lo    inet .*"),
    Example(
        "tool_facts",
        ("rsync=--version", "nc=", "no-such-tool=-V"),
        programs={"rsync": "echo 'rsync  version 3.2.7'; exit 1", "nc": ""},
        matches=r"tool rsync /\S+\n: rsync  version 3.2.7\ntool nc /\S+\ntool no-such-tool \n",
        tolerates=dict.fromkeys(("rsync", "readlink"), "a version that it does not tell is not known"),
    ),
    Example(
        "tool_facts",
        ("rsync=--version", "fio=--version"),
        programs={"rsync": "echo 'rsync  version 3.2.7'", "fio": "echo fio-3.33"},
        arrange="chmod 777 ../programs/fio",
        matches=r"tool rsync /\S+\n: rsync  version 3.2.7\ntool fio /\S+\n",
        tolerates=dict.fromkeys(("rsync", "readlink"), "a version that it does not tell is not known"),
        name="one that others can change",
    ),
    Example(
        "all_tools_are_trusted",
        ("sh", "-V", "/bin/sh", "nc", "", "/none", "none", "-V", ""),
        settings={"tool_user": "0"},
        prints="",
        tolerates={"readlink": "then each is looked at"},
    ),
    Example("all_tools_are_trusted", settings={"tool_user": "0"}, prints="", name="none"),
    Example(
        "server_programs",
        programs={"postgres": "echo 'postgres (PostgreSQL) 15.5'"},
        matches=r"server /\S+/postgres\n: postgres \(PostgreSQL\) 15.5\n(?:server /\S+\n(?:: .*\n)?)*",
        tolerates=dict.fromkeys(("postgres", "readlink"), "a version that it does not tell is not known"),
    ),
    Example("tool_of_postgresql", ("pg_nothing_such",), prints="", name="none"),
    Example("tool_of_postgresql", ("postgres",), matches=r"(?:/\S+/postgres\n)?"),
    Example(
        "clock_sync_facts",
        ("@folder@",),
        programs={"timedatectl": '[ "$1" != show ] || exit 1\necho "System clock synchronized: yes"'},
        prints="System clock synchronized: yes\n",
        name="systemd of RHEL 7",
    ),
    Example(
        "clock_sync_facts", ("no",), programs={"chronyc": "echo Leap status : Normal"}, prints="Leap status : Normal\n"
    ),
    Example(
        "account_facts",
        ("postgres", "nobody-of-that-name"),
        programs={"getent": '[ "$2" = postgres ] || exit 2\necho postgres:x:77:77::/home:/bin/sh'},
        matches=r"(?s)root:0:0\n.*postgres:77:77\n",
    ),
    Example("session_limits", matches=r"open_files=\w+\nlocked_kilobytes=\w+\n"),
    Example(
        "kernel_facts",
        programs={"modprobe": '[ "$2" = nfs ] || exit 1', "uname": "echo 5.0"},
        matches=r"(?s): .*\nmodprobe\nmodule nfs\nrelease 5\.0\n.*",
    ),
    Example(
        "kernel_config",
        ("config", "no"),
        arrange="printf '%s\\n' CONFIG_A=y CONFIG_NFS_DISABLE_UDP_SUPPORT=y >config",
        prints="config CONFIG_NFS_DISABLE_UDP_SUPPORT=y\n",
    ),
    Example(
        "kernel_config",
        ("no", "config.gz"),
        arrange="echo CONFIG_NFS_DISABLE_UDP_SUPPORT=y | gzip >config.gz",
        prints="config CONFIG_NFS_DISABLE_UDP_SUPPORT=y\n",
        name="of the kernel itself",
    ),
    Example("kernel_settings", ("swappiness", "none"), arrange="echo 10 >swappiness", prints="swappiness:10\n"),
    Example(
        "block_device_facts",
        programs=_LSBLK,
        prints='{"blockdevices": []}\n',
        tolerates={"lsblk": _FIRST_IS_FELL_BACK_FROM},
    ),
    Example("block_devices_of_sysfs", matches=r"(?:KNAME=\"\S+\".*\n)*"),
    Example("block_queue_facts", matches=r"(?:\S+ \S+ .*\n)*"),
    Example(
        "disk_health_facts",
        programs={"smartctl": "echo 'SMART Health Status: OK'; exit 4"},
        matches=r"(?:disk \w+\n: SMART Health Status: OK\n)*",
        tolerates={"smartctl": "a disk of which it says nothing is not known"},
    ),
    Example(
        "zfs_facts",
        ("mounts",),
        arrange="echo 'tank /srv zfs rw 0 0' >mounts",
        programs={"zfs": "echo t"},
        prints="t\n",
    ),
    Example("zfs_facts", ("mounts",), arrange="echo '/dev/a / ext4 rw 0 0' >mounts", prints="", name="none"),
    Example(
        "space_facts",
        ("-k",),
        programs={"df": "echo rows"},
        prints="rows\n",
        tolerates={"timeout": _FIRST_IS_FELL_BACK_FROM},
    ),
    Example(
        "space_facts",
        ("-k",),
        programs={"df": "echo rows; echo 'df: /a: Permission denied' >&2; exit 1"},
        prints="rows\n",
        status=1,
        complains="df does not report the space of every file system",
        name="one may not be looked at",
    ),
    Example(
        "geometry_facts",
        ("mounts",),
        arrange=_MOUNTS,
        programs={"xfs_info": 'echo "of $1"', "dumpe2fs": 'echo "of $2"'},
        prints="geometry of /dev/a\nof /srv/a b\ngeometry of /dev/b\nof /dev/b\n",
        tolerates={"xfs_info": _NO_TOOL, "dumpe2fs": _FIRST_IS_FELL_BACK_FROM, "tune2fs": _NO_TOOL},
    ),
    Example("geometry_facts", ("mounts",), status=1, complains="mounts cannot be read", name="no list"),
    Example(
        "ha_and_pooler_facts",
        ("pgbouncer-of-an-example", "@folder@/*.ini none"),
        arrange=_BOUNCER,
        matches=r"(?s).*process =2e2f7067626f756e636572\w+\n.*file @folder@/a.ini\n.*",
        after='kill "$(cat pid)"',
    ),
    Example(
        "virtual_address_facts",
        ("keepalived.conf",),
        arrange="printf '%s\\n' 'virtual_ipaddress {' '  192.0.2.9/24 dev eth0' '}' >keepalived.conf",
        programs=_IP,
        prints="1: lo    inet 127.0.0.1/8 scope host lo\nvirtual 192.0.2.9\n",
    ),
    Example("instance_facts", matches=r"(?:instance \S+@\S+\.service\n)*"),
    Example("host_unit_facts", ("@folder@",), matches=r"(?:instance \S+@\S+\.service\n)*", name="none"),
    Example("autostart_facts", matches=r"(?:(?:enabled|masked|restart|start|script) .*\n)*"),
    Example(
        "restart_of_unit",
        ("@folder@/a.service",),
        arrange="printf '%s\\n' 'Restart=no' ' Restart=always' >a.service",
        prints="restart @folder@/a.service always\n",
    ),
    Example(
        "start_of_cluster",
        ("/etc/postgresql/15/main/../../../../@folder@/start.conf",),
        arrange="printf '%s\\n' '# how' '' 'manual # at night' >start.conf",
        matches=r"start 15/main\S+ manual \n",
    ),
    Example(
        "security_policy_facts",
        ("enforce", "enabled", "profiles"),
        arrange=f"echo 1 >enforce; echo Y >enabled; {_PROFILES}",
        prints="selinux=1\napparmor=Y\nprofile PostgreSQL (enforce)\n",
    ),
    Example(
        "security_policy_facts",
        ("no", "enabled", "no"),
        arrange="echo Y >enabled",
        programs={"getenforce": "echo Permissive"},
        prints="selinux=Permissive\napparmor=Y\nprofiles unread\n",
        name="profiles that only root may read",
    ),
    Example(
        "firewall_facts",
        ("tables",),
        arrange="echo filter >tables",
        programs={
            "iptables-legacy-save": "echo ':INPUT DROP'",
            "iptables-save": "echo other",
            "nft": "echo table inet x",
        },
        prints="listed\n: :INPUT DROP\n: table inet x\n",
        tolerates={"iptables-legacy-save": _FIRST_IS_FELL_BACK_FROM},
    ),
    Example(
        "firewall_facts",
        ("no",),
        programs={"nft": "echo 'Operation not permitted' >&2; exit 1"},
        status=1,
        complains="nft cannot list its rules",
        name="a user without rights",
    ),
    Example("schedule_facts", matches=r"(?s)(?:place .*)?"),
    Example(
        "crontab_lines",
        ("tab", "postgres"),
        arrange="printf '%s\\n' '# daily' '' '@daily vacuum' >tab",
        prints="place tab postgres\n: @daily vacuum\n",
    ),
    Example("periodic_script", ("job",), arrange="echo pg_dump >job", prints="place job -\n: root runs job\n"),
    Example("periodic_script", ("job",), arrange="echo tar >job", prints="", name="another's"),
    Example("timer_command", ("/x.wants/no-such-unit.timer",), prints="", name="none"),
    Example(
        "debian_clusters",
        programs={"pg_lsclusters": '[ "$1" = -h ] || exit 1\necho "15 main 5432 online postgres /srv /var/log/x"'},
        prints="15 main 5432 online postgres /srv /var/log/x\n",
        name="an old one",
    ),
    Example(
        "postmasters",
        arrange="cp /bin/sleep postgres; ./postgres 60 >/dev/null 2>&1 & echo $! >running; became postgres $!",
        matches=r"(?s).*postmaster \d+ seen =\w+ =2e2f706f737467726573\w+\n.*",
        after='kill "$(cat running)"',
    ),
    Example("postmaster_line", ("1",), matches=r"postmaster 1 \w+ =\w* =\w+\n", tolerates=_NOT_SEEN),
    Example(
        "postmaster_line",
        ("4194300",),
        prints="",
        name="ended meanwhile",
        tolerates=_NOT_SEEN,
    ),
    Example(
        "common_folders",
        ("@folder@/* /nowhere*",),
        arrange="mkdir -p data/global other && touch data/PG_VERSION",
        matches=r"folder =(?:[0-9a-f]{2})+\n",
    ),
    Example(
        "unit_facts",
        ("/nowhere", "@folder@"),
        arrange=f"{_SERVICE}; echo ExecStart=/bin/sshd >b.service",
        prints="unit @folder@/a.service\n: ExecStart=/opt/pg/bin/postgres    -D /srv\n",
    ),
    Example("unit_facts", ("@folder@",), prints="", name="none"),
    Example(
        "unit_facts",
        ("@folder@",),
        arrange="""n=$(printf 'a\nunit x'); mkdir "$n.service.d"
for file in "$n.service" "$n.service.d/b.conf"; do echo ExecStart=/bin/postgres >"$file"; done""",
        prints="",
        name="a name with a line break",
    ),
    Example(
        "units_about_postgresql",
        ("a.service", "b.service"),
        arrange="echo ExecStart=/bin/sshd >a.service; echo Environment=PGDATA=/srv >b.service",
        prints="unit b.service\n: Environment=PGDATA=/srv\n",
    ),
    Example(
        "units_about_postgresql",
        ("a.service", "b.conf", "c.service"),
        arrange="""printf 'Environment=%s\n' AROOT=/no PASSWORD=x ROOT=/srv >b.conf; cp b.conf c.service
printf 'ExecStart=/bin/postgres \\\n -D ${ROOT}/data $$NO\nEnvironment="ROOT=/srv"\n' >a.service""",
        prints='unit a.service\n: ExecStart=/bin/postgres   -D ${ROOT}/data $$NO\n: Environment="ROOT=/srv"\n',
        after='units_about_postgresql a.service b.conf >/dev/null; [ "$unit_names" = "PGDATA|ROOT" ]',
        name="a variable of the command line",
    ),
    Example(
        "unit_start_lines", ("a.service",), arrange="echo ' ExecStart=/bin/x' >a.service", prints=": ExecStart=/bin/x\n"
    ),
    Example("unit_lines", ("a.service",), arrange="echo ' ExecStart=/bin/x' >a.service", prints=": ExecStart=/bin/x\n"),
    Example(
        "unit_lines",
        ("a.service",),
        arrange="echo EnvironmentFile=-$PWD/env >a.service; printf 'SECRET=x\\nPGDATA=/srv\\n' >env",
        prints=": EnvironmentFile=PGDATA=/srv\n",
        name="a file of its environment",
    ),
    Example(
        "user_unit_facts",
        arrange="mkdir -p .config/systemd/user/default.target.wants && cd .config/systemd/user && "
        "echo Environment=PGDATA=/srv >a.service && ln -s ../a.service default.target.wants/",
        programs={"getent": "printf 'ann:x:1:1::%s:/bin/sh\\nbob:x:2:2::/nowhere:/bin/sh\\n' \"$PWD\""},
        prints="user ann @folder@\nenabled a.service\n"
        "unit @folder@/.config/systemd/user/a.service\n: Environment=PGDATA=/srv\n",
    ),
]
