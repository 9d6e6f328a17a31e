# SPDX-License-Identifier: Apache-2.0
# Names of others on the page of a report: from every text column, and from each kind of import.

setup() { load common.bash; }

# Times, a call of MPI and a message between two ranks; names of states, events and rows are hostile.
write_trace() {
    cat >t.prv <<'END'
#Paraver (01/02/2020 at 10:20):1000_us:1(2):1:2(1:1,1:1),0
1:1:1:1:1:0:1000:1
1:2:2:1:1:0:1000:1
2:1:1:1:1:10:50000001:1:70000000:1
2:1:1:1:1:300:50000001:0:70000000:0
2:2:2:1:1:20:50000001:2
2:2:2:1:1:500:50000001:0
2:1:1:1:1:600:50000001:3
2:1:1:1:1:700:50000001:0
3:1:1:1:1:10:12:2:2:1:1:20:400:512:9
END
    printf '%b' "STATES\n0 Idle\n1 $1run\n\nEVENT_TYPE\n0 50000001 MPI p2p\nVALUES\n1 MPI_Send\n2 MPI_Recv\n3 $1routine\n0 End\n
EVENT_TYPE\n0 70000000 $1type\nVALUES\n1 $1value\n0 End\n" >t.pcf
    printf '%b' "LEVEL NODE SIZE 1\n$1node\n\nLEVEL THREAD SIZE 2\n$1thread one\n$1thread two\n" >t.row
}
evil='\033[31m\342\200\256\302\233</script>'

@test "names in every text column" {
    "$MAKE_EXPERIMENT" x.assay
    python3 "$CHECK_NAMES" "$ASSAY" "$TABLES" x.assay
}
@test "names of an imported trace of Paraver, and of OTF2" {
    write_trace "$evil"
    "$ASSAY" import t.prv -o p.assay >out 2>err
    never grep -q $'\033' out err
    "$ASSAY" report p.assay -o p.html
    "$ASSAY" export p.assay --as otf2 -o archive.otf2
    "$ASSAY" import archive.otf2 -o o.assay >out 2>err
    never grep -q $'\033' out err
    "$ASSAY" report o.assay -o o.html
    python3 "$CHECK_NAMES" --page p.html o.html
}
@test "names of an imported recording of perf" {
    python3 "$MAKE_DAMAGED_PERF" perf
    python3 - <<'END'
data = open("perf/whole.data", "rb").read()
evil = "\x1b[31m\u202e".encode()
changed = data
for name in (b"/nowhere/solver", b"solver\0"):
    changed = changed.replace(name, evil[:len(name.rstrip(b"\0"))].ljust(len(name.rstrip(b"\0")), b"x")
                              + name[len(name.rstrip(b"\0")):])
assert changed != data and len(changed) == len(data)
open("evil.data", "wb").write(changed)
END
    "$ASSAY" import evil.data -o r.assay >out 2>err
    never grep -q $'\033' out err
    "$ASSAY" report r.assay -o r.html
    python3 "$CHECK_NAMES" --page r.html
}
