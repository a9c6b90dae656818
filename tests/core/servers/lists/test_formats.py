"""Lists of servers: what each kind says, and what of a broken one is refused by itself."""

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from core.errors import InputError, ParseError
from core.language import spoken
from core.reports.recorded import is_known, recorded
from core.servers.lists import formats, model
from core.servers.lists.formats import read_list
from core.servers.lists.model import MOST, MOST_GROUPS, MOST_NAMED, ServerList, WantedMove
from core.servers.profiles import Profile, Rights

INI = """\
# of last spring
lone ansible_port=2200   # by itself

[old]
db[01:03].lan:2222 pghaul_cluster=/srv/pg/ pghaul_new=new-b
web-[a:b] ansible_user="the dba" ansible_connection=docker
[new]
new-[a:c:2] ansible_host=192.0.2.9
[fleet:children]
old
new
[fleet:vars]
ansible_user=everyone
ansible_ssh_common_args='-o ProxyJump=dba@bastion:22 -o Compression=yes'
[old:vars]
ansible_user = dba
pghaul_rights=sudo-postgres
"""


def read(text: str, name: str = "fleet") -> ServerList:
    return read_list(name, text)


def refusals(found: ServerList) -> list[tuple[str, str]]:
    return [(each.place, each.reason) for each in found.refused]


def test_an_inventory_with_ranges_groups_and_what_they_say() -> None:
    found = read(INI)
    profiles = {each.name: each for each in found.profiles}
    assert list(profiles) == ["lone", "db01.lan", "db02.lan", "db03.lan", "new-a", "new-c"]
    assert profiles["lone"] == Profile("lone", "lone", port=2200)
    assert profiles["db02.lan"] == Profile(
        "db02.lan", "db02.lan", user="dba", port=2222, jump="dba@bastion:22", rights=Rights.SUDO_POSTGRES
    )  # its own group says more than the one around that
    assert (profiles["new-c"].address, profiles["new-c"].user) == ("192.0.2.9", "everyone")
    assert found.listed[1].move == WantedMove("db01.lan/srv/pg", "new-b", "/srv/pg", "/srv/pg")
    assert [(where, " docker" in reason) for where, reason in refusals(found)] == [("line 6", True)] * 2


def test_a_line_that_is_none_is_refused_by_itself() -> None:
    found = read('good\nbad "x\nalso nothing\n[what:ever]\nlost\n[db\n[db]\n$(x) a=b\nx[5:1]\n[::1]:22\n[n:vars]\n=3\n')
    assert [each.name for each in found.profiles] == ["good", "::1"]
    assert [place for place, _ in refusals(found)] == [f"line {number}" for number in (2, 3, 4, 6, 9, 12, 8)]


def test_what_ansible_prints_itself() -> None:
    found = read(
        '{"_meta": {"hostvars": {"a": {"ansible_host": "192.0.2.1", "ansible_port": 22, "ansible_password":'
        ' {"__ansible_vault": "x"}}}}, "all": {"children": ["db"]}, "db": {"hosts": ["a", "b"],'
        ' "vars": {"ansible_user": "dba"}}, "plain": ["c"], "odd": 7}'
    )
    assert [(each.name, each.address, each.user, each.port) for each in found.profiles] == [
        ("a", "192.0.2.1", "dba", 22),
        ("b", "b", "dba", None),
        ("c", "c", None, None),
    ]


def test_a_csv_with_columns_of_others_and_five_clusters_of_one_server() -> None:
    rows = "".join(f"db1;192.0.2.1;room {room};new1;/srv/pg/{room};\n" for room in range(5))
    found = read(f"\ufeffName;Address;Room;new;Cluster;move\n{rows}".lstrip("\ufeff"))
    assert [each.name for each in found.profiles] == ["db1"]
    assert [each.move.cluster for each in found.listed if each.move] == [f"/srv/pg/{room}" for room in range(5)]


def test_a_move_from_a_server_to_itself_is_refused_with_its_line() -> None:
    found = read(
        "name,address,port,jump,new,cluster\n"
        "db1,192.0.2.1,,,db1,/srv/pg\n"
        "db2,192.0.2.2,,,db3,/srv/pg\n"
        "db3,192.0.2.2,,,,\n"
        "db4,DB.example.net,2222,,db5,/srv/pg\n"
        "db5,db.example.net,2222,,,\n"
        "db6,192.0.2.6,2222,,db7,/srv/pg\n"
        "db7,192.0.2.6,2223,,,\n"
        "db8,192.0.2.8,,one,db9,/srv/pg\n"
        "db9,192.0.2.8,,other,,\n"
        "db10,192.0.2.10,,,unknown,/srv/pg\n"
    )
    assert [each.profile.name for each in found.listed if each.move] == ["db6", "db8", "db10"]
    refused = [(each.place, each.name) for each in found.refused]
    assert refused == [("line 2", "db1"), ("line 3", "db2"), ("line 5", "db4")]
    assert all(each.name in each.reason and "pghaul move add" in each.hint for each in found.refused)


def test_a_row_that_cannot_be_is_refused_with_its_line() -> None:
    found = read(
        "name,address,port,rights,new,cluster,move\n"
        "a,192.0.2.1,,,,,\n"
        "a,192.0.2.2,,,,,\n"
        "b,192.0.2.3,70000,,,,\n"
        "c,-oProxyCommand=x,,,,,\n"
        "d,192.0.2.4,,all,,,\n"
        "e,192.0.2.5,,,n,,\n"
        "f,192.0.2.6,,,n,srv,\n"
        "g,192.0.2.7,,,n,/srv,one\n"
        "h,192.0.2.8,,,n,/srv,one\n"
        ",,,,,,\n"
        '"i\nj",192.0.2.9,,,,,\n'
    )
    assert [each.name for each in found.profiles] == ["a", "g", "i\nj"]
    named = [
        ("line 3", r"^a .* 2$"),
        ("line 4", r"^'70000' "),
        ("line 5", r"^'-oProxyCommand=x' "),
        ("line 6", r"^'all' "),
        ("line 7", r"\be\b"),
        ("line 8", r"^'srv' "),
        ("line 10", r"\bone\b.*\b9\b"),
    ]
    assert [where for where, _ in refusals(found)] == [where for where, _ in named]
    for (_, reason), (_, pattern) in zip(refusals(found), named, strict=True):
        assert re.search(pattern, reason), reason


@pytest.mark.parametrize("host", ["2001:db8::", "[2001:db8::]:22", "db1:22", "db1"])
def test_an_address_with_colons_is_no_key_of_yaml(host: str) -> None:
    address = host.removesuffix(":22").strip("[]")
    assert [each.address for each in read(f"[pg]\n{host} ansible_user=dba\n").profiles] == [address]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nall:\n  hosts:\n", "YAML"),
        ("all:\n  hosts:\n    a:\n", "YAML"),
        ('"dbs":\n  hosts:\n    a:\n', "YAML"),
        ("x: &x\n  ansible_user: dba\nall:\n  hosts:\n    a: *x\n", "YAML"),
        ("dbs: {hosts: {a: {}, b: {}}}\n", "YAML"),
        ("%YAML 1.2\n---\ndbs:\n  hosts:\n    a:\n", "YAML"),
        ("? dbs\n: hosts:\n    a: {}\n", "YAML"),
        ("Host a\n  HostName 192.0.2.1\n", " ssh "),
        ('{"all":', "JSON"),
        ("{" * 100_000, "JSON"),
        ("db[1:99999999]\n", "[1:99999999]"),
        ("a[1:200]b[1:200]\n", f" {MOST} "),
        ("[a:children]\nb\n[b:children]\na\n[a]\nx\n", " 50 "),
        ('name,address\n"a,b\n', "CSV"),
        ("Match all\n\n  # of last spring\n\n  User dba\n", " ssh "),
        ("host,ip\ndb1,192.0.2.1\n", "'host,ip'"),
        ("Name;IP;Room\ndb1;192.0.2.1;7\n", " address; "),
        ("host,cluster\ndb1,/srv/pg\n", "'host'"),
        ("user,new,cluster\ndba,new1,/srv/pg\n", " address"),
    ],
)
def test_what_is_no_list_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert said in caught.value.message


def test_where_no_server_stands_the_first_line_that_is_refused_is_named() -> None:
    for text, place in (("", None), ("\x7fELF\ufffd\x02\n", "line 1: "), ("\n\x7fELF\n\x7f\n", "line 2: ")):
        with pytest.raises(ParseError, match=r"\bfleet\b") as caught:
            read(text)
        assert re.findall(r"line \d+: ", caught.value.message) == ([] if place is None else [place])


@pytest.mark.parametrize(
    ("text", "hint"),
    [("---\nall:\n", "ansible-inventory -i 'a b;c' --list | "), ("Host a\n  User dba\n", "PGHAUL_SSH_CONFIG='a b;c'")],
)
def test_a_command_in_a_hint_takes_the_name_as_one_word(text: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read_list("a b;c", text)
    assert hint in caught.value.hint


HEAD = "name,address,port,user,rights,jump,new,cluster,move\n"
ONE = f"{HEAD}a,192.0.2.1,,,,,,,\n"
REASONS = [
    (f"{HEAD}a,192.0.2.1,,,,,a,/srv/pg,\n", "pghaul move add"),
    (f"{HEAD}a,192.0.2.1,,,,,b,/srv/pg,\nb,192.0.2.1,,,,,a,/srv/pg,\n", "correct the address"),
    (f"{HEAD}a,-x,,,,,,,\n", "host name"),
    (f"{HEAD}a,192.0.2.1,70000,,,,,,\n", "1 to 65535"),
    (f"{HEAD}a,192.0.2.1,,-x,,,,,\n", "user to log in"),
    (f"{HEAD}a,192.0.2.1,,,all,,,,\n", "use one of"),
    (f"{HEAD}a,192.0.2.1,,,,a:b,,,\n", "[user@]host[:port]"),
    (f"{HEAD}a,192.0.2.1,,,,,b,,\n", "both new and cluster"),
    (f"{HEAD}a,192.0.2.1,,,,,,/srv/pg,\n", "both new and cluster"),
    (f"{HEAD}a,192.0.2.1,,,,,b,srv,\n", "beginning with /"),
    (f"{ONE}a,192.0.2.2,,,,,,,\n", "same description"),
    (f"{HEAD}a,192.0.2.1,,,,,b,/srv,one\nc,192.0.2.2,,,,,b,/srv,one\n", "another name"),
    ("a ansible_connection=docker\n", "ansible_connection to ssh"),
    ("a ansible_ssh_common_args='-o ProxyCommand=x'\n", "~/.ssh/config"),
    ('{"all": {"hosts": {"-a": {}}}}', "host name"),
    ("[what:ever]\n", "[group:vars]"),
    ("[all:vars]\nuser\n", "name=value"),
    ("a port\n[x]\n", "name=value"),
    ("a 'x=y\n", "quotation mark"),
    ("a[5:1] x=y\n", "[01:50]"),
    (f"a[1:{MOST}]b[1:2] x=y\n", "shorter range"),
]
"""Lists, each with an entry that is refused, and what of its hint says what to do."""


@pytest.mark.parametrize(("text", "hint"), REASONS)
def test_a_refused_entry_says_what_to_do_about_its_own_reason(text: str, hint: str) -> None:
    try:
        (said,) = (each.hint for each in read(text).refused)
    except ParseError as error:  # no other entry is left
        said = error.hint
        assert "expected: " not in said
    assert hint in said


@pytest.mark.parametrize("text", ["\x7fELF\ufffd\x02\n", "a letter to somebody\n", "a,b\n", "'x\n", "a[5:1]\n"])
def test_a_text_that_says_not_what_kind_of_list_it_is_is_told_the_kinds_too(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(text)
    said, _, kinds = caught.value.hint.partition("; expected: ")
    assert said
    assert all(kind in kinds for kind in ("CSV", "Ansible", "~/.ssh/config"))


@pytest.mark.parametrize("text", [text for text, _ in REASONS])
def test_each_reason_and_its_hint_are_german(text: str) -> None:
    with spoken("de"):
        try:
            said = [part for each in read(text).refused for part in (each.reason, each.hint)]
        except ParseError as error:
            said = [error.message, error.hint]
        assert all(map(is_known, said)), said
        shown = " ".join(map(recorded, said))
    assert re.findall(r"\b(?:the|of|is|to|with|another|its|line|bis itself)\b", shown) == []


@pytest.mark.parametrize("module", [formats, model])
def test_no_refusal_is_without_a_hint(module: ModuleType) -> None:
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call)]
    words = {"InputError": 2, "ParseError": 2, "Refused": 4}
    made = [(call.func.id, len(call.args)) for call in calls if isinstance(call.func, ast.Name)]
    refusals_made = [(name, number) for name, number in made if name in words]
    assert len(refusals_made) > 5
    assert [(name, number) for name, number in refusals_made if number != words[name]] == []


def test_names_alone_are_addresses_where_no_other_column_could_be() -> None:
    assert read("name,new,cluster\ndb1,new1,/srv/pg\n").profiles == (Profile("db1", "db1"),)


def test_a_server_that_another_way_leads_to_than_a_profile_holds_is_refused() -> None:
    through = "ansible_ssh_common_args='-o proxycommand=\"nc -X 5 %h %p\"'"
    found = read(f"a {through}\nb {through} pghaul_jump=bastion\nc ansible_ssh_common_args='-o proxyjump=bastion'\n")
    assert [(each.name, each.jump) for each in found.profiles] == [("b", "bastion"), ("c", "bastion")]
    ((where, reason),) = refusals(found)
    assert (where, "ansible_ssh_common_args" in reason, "ProxyCommand" in reason) == ("line 1", True, True)
    assert "~/.ssh/config" in found.refused[0].hint


@pytest.mark.parametrize(
    ("jump", "said"),
    [
        ("dba@bastion:22,[::1]:23", ""),
        ("none", ""),
        ("-oProxyCommand=x", "'-oProxyCommand=x'"),
        ("a:b", "'a:b'"),
        (f"a:{'9' * 5000}", "99999"),
        ("{{bastion}}", "'{{bastion}}'"),
        ("$(x)@bastion", "'$(x)'"),
    ],
)
def test_a_jump_host_is_what_connecting_takes(jump: str, said: str) -> None:
    found = read(f'name,address,jump\ngood,192.0.2.1,\none,192.0.2.2,"{jump}"\n')
    reasons = [reason for _, reason in refusals(found)]
    assert len(reasons) == bool(said)
    assert said in "".join(reasons)


@pytest.mark.slow
def test_more_servers_than_anybody_has_are_refused_and_ten_thousand_are_read() -> None:
    lines = [f"db{number} ansible_host=192.0.2.1" for number in range(MOST)]
    assert len(read("\n".join(lines)).profiles) == MOST
    ((where, reason),) = refusals(read("\n".join([*lines, "one-more"])))
    assert (where, f" {MOST} " in reason) == (f"line {MOST + 1}", True)


@pytest.mark.slow
def test_the_same_servers_again_and_again_count_too() -> None:
    found = read("".join(f"[g{number}]\ndb[1:{MOST}]\n" for number in range(1500)))
    assert len(found.profiles) == MOST
    named = MOST_NAMED // MOST
    where, reason = refusals(found)[0]
    assert (where, " 100,000 " in reason) == (f"line {2 * named + 2}", True)
    assert len(found.refused) == 1500 - named


@pytest.mark.parametrize("line", ["[g{}]", "[g{}:vars]", "g{}"])
def test_more_groups_than_anybody_has_are_refused(line: str) -> None:
    lines = "\n".join(line.format(number) for number in range(MOST_GROUPS + 5))
    found = read(f"[all]\na\n[all:children]\n{lines}\n")
    assert [each.name for each in found.profiles] == ["a"]
    assert all(" 2,000 " in reason for _, reason in refusals(found))
    assert refusals(found)


def test_the_ssh_configuration_in_use_by_its_own_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text("Host db1 db2\n  HostName 192.0.2.1\nHost *\n  User dba\n")
    monkeypatch.setenv("PGHAUL_SSH_CONFIG", str(config))
    found = read_list(str(config), config.read_text())
    assert found.profiles == (Profile("db1", "db1"), Profile("db2", "db2"))
    config.write_text("# empty\n")
    with pytest.raises(ParseError, match=re.escape(str(config))):
        read_list(str(config), "")
