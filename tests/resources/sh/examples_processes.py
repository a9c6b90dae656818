"""Examples of processes, and of detached work."""

import hashlib

from core.servers.functions import library
from tests.resources.sh.examples import Example

_PROGRAM = library(["job_keep"]) + '\njob_command() {\ncat\nexit 7\n}\njob_keep "$1"\n'
_SUM = hashlib.sha256(_PROGRAM.encode()).hexdigest()
_GONE = "folder=$(ls -d @folder@/pghaul-job.*) && sleep 0.2 && rm -rf @folder@/pghaul-job.*"
_RUNNING = """mkdir -m 700 job && echo 'some log' >job/log && {
setsid sh -c 'read -r line </proc/$$/stat; set -- ${line##*) }; boot=$(cat /proc/sys/kernel/random/boot_id)
echo "$$ ${20} $boot" >job/group.new; mv job/group.new job/group; sleep 60' >/dev/null 2>&1 &
}
while [ ! -s job/group ]; do sleep 0.02; done"""
_ORPHANED = """mkdir -m 700 job && echo 'some log' >job/log
pghaul_job=$PWD/job setsid sh -c 'begun=$(cut -d " " -f 22 /proc/$$/stat); boot=$(cat /proc/sys/kernel/random/boot_id)
sleep 60 >/dev/null 2>&1 & echo $! >orphan; echo "$$ $begun $boot" >job/group; kill -s KILL $$'
became sleep $(cat orphan)"""
_LIVES = {
    "setsid behind": "it lives as long as the job",
    "mv behind": "the job is found by then",
    "sleep": "where the job is quick it does not sleep",
}
_ENDED = "mkdir -m 700 job && echo 'some log' >job/log && echo '1 1 another-boot' >job/group && echo 7 >job/exit"
_END_IT = "read -r group rest <job/group; kill -s KILL -- -$group 2>/dev/null; :"

_ODD = """name=$(printf 'odd ) S 1\\n1 name') && cp /bin/sleep "$name" && {
setsid "./$name" 60 >/dev/null 2>&1 & echo $! >group; became "odd ) S 1" $!; }"""
_END_ODD = 'status=$?; kill "$(cat group)"; [ $status -eq 0 ]'

_SERVER = "cp /bin/sleep postgres; ./postgres 60 >/dev/null 2>&1 & echo $! >running; became postgres $!"

EXAMPLES = [
    Example("end_group", ("4194300", "50"), name="ended already"),
    Example("process_start", ("1",), matches=r"\d+\n"),
    Example("process_start", ("4194300",), prints="", name="it has ended"),
    Example("end_known_group", ("4194300", "77", "50"), name="ended already"),
    Example("end_known_group", ("1", "77", "50"), name="its number is another's"),
    Example("group_is_running", ("0",), prints=""),  # the kernel's own threads
    Example(
        "group_is_running",
        ("0",),
        arrange=_ODD,
        after=f'group_is_running "$(cat group)"; {_END_ODD}',
        name="oddly named",
    ),
    Example("read_process", ("1",), prints=""),
    Example(
        "process_start",
        ("1",),
        arrange=_ODD,
        after=f'[ -n "$(process_start "$(cat group)")" ]; {_END_ODD}',
        name="oddly named",
    ),
    Example(
        "job_start",
        ("@folder@", "about", str(len(_PROGRAM.encode())), _SUM),
        stdin=f"{_PROGRAM}input",
        matches=r"@folder@/pghaul-job\.\w+\n",
        after=_GONE,
        tolerates=_LIVES,
    ),
    Example(
        "job_start",
        ("@folder@", "about", str(len(_PROGRAM.encode())), "0" * 64),
        stdin=f"{_PROGRAM}input",
        status=1,
        complains="is incomplete: nothing was started",
        after="! ls -d @folder@/pghaul-job.* 2>/dev/null",
        name="a program that is not the one that was sent",
    ),
    Example(
        "job_refresh", ("@folder@/job",), arrange=_RUNNING, after=f'job_refresh job; {_END_IT}; [ "$job_running" = 1 ]'
    ),
    Example(
        "job_refresh",
        ("@folder@/job",),
        arrange=_ORPHANED,
        after=f'job_refresh "$PWD/job"; cd ..; {_END_IT}; [ "$job_running" = 1 ]',
        name="its keeper was killed",
    ),
    Example(
        "job_refresh",
        ("@folder@/job",),
        arrange=_ORPHANED.replace("pghaul_job=", "job="),
        after=f'job_refresh "$PWD/job"; cd ..; {_END_IT}; [ "$job_running" = 0 ]',
        name="its number is another's",
    ),
    Example(
        "job_state",
        ("@folder@/job", "1", "0.01", "6", "99"),
        arrange=_ENDED,
        tolerates={"touch": "it matters to a dress rehearsal alone, which then ends"},
        prints="0 7 9\nlog\n",
        after="[ -e job/looked ]",
    ),
    Example(
        "job_state",
        ("@folder@/job", "1", "0.01", "1", "0"),
        arrange=_RUNNING,
        tolerates={"touch": "it matters to a dress rehearsal alone, which then ends"},
        prints="1 - 9\n",
        after=_END_IT,
        name="runs",
    ),
    Example(
        "job_ended_ago", ("@folder@/job",), arrange=f"{_ENDED}; touch -d '5 seconds ago' job/exit", matches="[5-9]\n"
    ),
    Example("job_ended_ago", ("@folder@/job",), arrange="mkdir job", prints="", name="runs"),
    Example("job_kill", ("@folder@/job", "50"), arrange=_RUNNING, after='[ "$(cat job/exit)" = 137 ]'),
    Example(
        "job_kill", ("@folder@/job", "50"), arrange=_ENDED, after='[ "$(cat job/exit)" = 7 ]', name="ended already"
    ),
    Example("job_remove", ("@folder@/job",), arrange=_ENDED, after="[ ! -e job ]"),
    Example(
        "job_remove",
        ("@folder@/job",),
        arrange=_RUNNING,
        status=75,
        complains="still running",
        after=_END_IT,
        name="runs",
    ),
    Example("job_list", ("@folder@",), prints="# 0 jobs\n"),
    Example(
        "list_server_processes",
        arrange=_SERVER,
        matches=r"(\d+\n)+",
        after='kill "$(cat running)"',
    ),
    Example(
        "list_servers_in",
        ("@folder@",),
        arrange=_SERVER,
        matches=r"\d+\n",
        after='kill "$(cat running)"',
    ),
    Example("list_servers_in", ("@folder@",), prints="", name="none"),
    Example("process_lives_in", ("self", "@folder@"), prints=""),
]
