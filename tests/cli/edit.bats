# SPDX-License-Identifier: Apache-2.0
# assay edit as a user meets it: a small trace, results by hand, option files and faults. Random
# traces are held to a plain editor by tests/edit.

setup() {
    load common.bash
    rm -f out.* new.* again.*
    cat >t.prv <<'END'
#Paraver (01/01/2026 at 00:00):100_ns:1(2):1:2(1:1,1:1),1
c:1:1:2:1:2
1:1:1:1:1:0:40:1
1:2:1:2:1:0:100:3
2:1:1:1:1:40:50000001:1
1:1:1:1:1:40:60:4
3:1:1:1:1:42:45:2:1:2:1:50:55:64:7
2:1:1:1:1:60:50000001:0:42000050:9
1:1:1:1:1:60:100:1
2:2:1:2:1:90:50000001:2
END
    cat >t.pcf <<'END'
STATES
1    Running
3    Waiting a message
4    Blocking Send

EVENT_TYPE
0    50000001    Call
VALUES
0      End
1      Send
2      Receive
END
    printf 'LEVEL THREAD SIZE 2\nfirst\nsecond\n' >t.row
}
edit() { "$ASSAY" edit t.prv "$@" -o out.prv -q --force; }
# The lines of the body, without what says when a trace was cut.
body() { grep -v '^[#c]' out.prv; }

@test "edit: a copy is equal, with labels and names" {
    run "$ASSAY" edit t.prv -o out.prv
    equal 0 "$status"
    like "assay: t.prv: 8 records read, 8 written" "$output"
    cmp t.prv out.prv
    cmp t.pcf out.pcf
    cmp t.row out.row
}
@test "edit: a cut breaks states, closes events and begins at 0" {
    edit --cut 50:95
    equal '#Paraver (01/01/2026 at 00:00):45_ns:1(2):1:2(1:1,1:1),1' "$(head -1 out.prv)"
    like '#20????????????:CUTTER:ORIGINAL:"t.prv":50:50:95' "$(sed -n 3p out.prv)"
    equal '1:2:1:2:1:0:45:3
1:1:1:1:1:0:10:4
2:1:1:1:1:10:50000001:0:42000050:0
1:1:1:1:1:10:45:1
2:2:1:2:1:40:50000001:2
2:1:1:1:1:45:42000050:0
2:2:1:2:1:45:50000001:0' "$(body)"
}
@test "edit: an option file of Paraver cuts as the words do" {
    cat >cut.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<!-- a <comment> -->
<config>
  <cutter>
    <tasks>1-2</tasks>
    <by_time>1</by_time>
    <minimum_time>41</minimum_time>
    <maximum_time>95</maximum_time>
    <original_time>1</original_time>
    <break_states>0</break_states>
    <remove_first_states>1</remove_first_states>
    <keep_events>1</keep_events>
  </cutter>
</config>
END
    edit --options cut.xml
    grep -v CUTTER out.prv >by_file
    edit --cut 41:95 --cut keep-times --cut whole-states --cut drop-first-states --cut border-events
    grep -v CUTTER out.prv >by_words
    cmp by_file by_words
    equal '3:1:1:1:1:42:45:2:1:2:1:50:55:64:7
2:1:1:1:1:60:50000001:0:42000050:0
1:1:1:1:1:60:100:1
2:2:1:2:1:90:50000001:2
2:1:1:1:1:95:42000050:0
2:2:1:2:1:95:50000001:0' "$(body)"
}
@test "edit: an option file of Paraver filters as the words do" {
    cat >filter.xml <<'END'
<config><filter>
  <discard_communications>0</discard_communications>
  <states>Running,Blocking Send<min_state_time>30</min_state_time></states>
  <types use="discard"><type>50000001 <value>0</value><value>2</value></type>
    <type>42000000-42999999</type></types>
  <comms>65</comms>
</filter></config>
END
    edit --options filter.xml
    equal '1:1:1:1:1:0:40:1
2:1:1:1:1:40:50000001:1
1:1:1:1:1:60:100:1' "$(body)"
    mv out.prv by_file
    edit --filter 'states=Running,Blocking Send' --filter min-state=30 --filter min-size=65 \
        --filter 'no-events=50000001:0,2;42000000-42999999'
    cmp by_file out.prv
}
@test "edit: an option file of Paraver makes software counters as the words do" {
    cat >count.xml <<'END'
<config><software_counters>
  <range>
    <by_intervals_vs_by_states>1</by_intervals_vs_by_states>
    <sampling_interval>50</sampling_interval>
    <events>50000001;42000050:9,10</events>
  </range>
  <algorithm>
    <count_events_vs_acummulate_values>1</count_events_vs_acummulate_values>
    <remove_states>1</remove_states>
    <global_counters>1</global_counters>
    <keep_events>50000001</keep_events>
  </algorithm>
</software_counters></config>
END
    edit --options count.xml
    # 50000001 / 10000 + 20000 + 50000001 % 10000 is 25001; 42000050 gives 24250
    equal '2:1:1:1:1:40:50000001:1
2:0:1:1:1:50:25001:1
2:1:1:1:1:60:50000001:0
2:2:1:2:1:90:50000001:2
2:0:1:1:1:100:25001:0:24250:1
2:0:1:2:1:100:25001:1' "$(body)"
    like '*EVENT_TYPE
0    25001    Call (number)' "$(cat out.pcf)"
    mv out.prv by_file
    edit --counters every=50ns --counters 'count=50000001;42000050:9,10' --counters no-states \
        --counters keep=50000001
    cmp by_file out.prv
    sed -i 's/accumu/&/; s/_acummulate_values>1/_acummulate_values>0/g' count.xml
    edit --options count.xml
    equal '2:0:1:1:1:100:50000001:0:42000050:9' "$(body | grep '^2:0:1:1:1:100')"
}
@test "edit: bursts have the counters before and inside" {
    edit --counters bursts=40 --counters sum=42000050 --counters count=50000001
    equal '1:1:1:1:1:0:40:1
2:0:1:1:1:40:25001:1
2:0:1:1:1:60:25001:0:42000050:9
1:1:1:1:1:60:100:1
2:0:1:1:1:100:42000050:0' "$(body)"
}
@test "edit: shifted times are sorted, and the end of the trace moves" {
    edit --shift 1.1=50 --shift all=1
    equal '#Paraver (01/01/2026 at 00:00):151_ns:1(2):1:2(1:1,1:1),1' "$(head -1 out.prv)"
    equal '1:2:1:2:1:1:101:3
1:1:1:1:1:51:91:1
2:1:1:1:1:91:50000001:1
1:1:1:1:1:91:111:4
2:2:1:2:1:91:50000001:2
3:1:1:1:1:93:96:2:1:2:1:51:56:64:7
2:1:1:1:1:111:50000001:0:42000050:9
1:1:1:1:1:111:151:1' "$(body)"
    printf '# tasks\n51\n1ns\n' >times
    mv out.prv by_words
    edit --shift tasks=times
    cmp by_words out.prv
}
@test "edit: events get other numbers, and labels move with them" {
    edit --translate 50000001:2=50000001:12 --translate 42000050=77
    equal '2:1:1:1:1:60:50000001:0:77:9
2:2:1:2:1:90:50000001:12' "$(body | sed -n '/:60:50/p; /:90:/p')"
    grep -q '^12 *Receive$' out.pcf
    never grep -q '^2 *Receive$' out.pcf
    printf 'EVENT_TYPE\n0 50000001 Call\nVALUES\n0 End\n1 Receive\n5 Send\n' >other.pcf
    edit --translate like=other.pcf
    equal '2:1:1:1:1:40:50000001:5
2:2:1:2:1:90:50000001:1' "$(body | sed -n '/:40:50/p; /:90:/p')"
}
@test "edit: compressed traces are read and written" {
    "$ASSAY" edit t.prv -o out.prv.gz -q
    "$ASSAY" edit out.prv.gz -o again.prv -q
    cmp t.prv again.prv
    cmp t.pcf again.pcf
    "$ASSAY" edit t.prv -q | cmp t.prv -
}
@test "edit: a file that ends inside a line says so" {
    head -c -5 t.prv >short.prv
    run "$ASSAY" edit short.prv -o out.prv
    equal 0 "$status"
    like "assay: short.prv: line 10 is left out: the file ends inside it; copy or make the file again" "${lines[0]}"
    truncate -s -1 t.prv # only the last newline
    run "$ASSAY" edit t.prv -o out.prv --force
    equal "assay: t.prv: 8 records read, 8 written" "$output"
    for verb in evaluate simulate; do
        run "$ASSAY" "$verb" short.prv
        like "*line 10*the file ends inside it*" "$output"
    done
}
@test "edit, open and simulate: a missing trace is one" {
    for verb in edit open simulate evaluate; do
        run "$ASSAY" "$verb" missing.prv
        equal 2 "$status"
        like "assay: missing.prv: the trace is missing: *; check the path" "$output"
    done
}
@test "edit: faults are said, and nothing is written" {
    refused() { # PATTERN ARGUMENT...
        run "$ASSAY" edit t.prv -o new.prv "${@:2}"
        equal 2 "$status"
        like "assay: $1" "$output"
        [ ! -e new.prv ] && [ ! -e new.pcf ]
    }
    refused "--cut: invalid value '5:3'; use FROM:TO*" --cut 5:3
    refused "--cut: the part begins behind the end of t.prv, 100 ns; *" --cut 1s:2s
    refused "--filter: invalid value 'colour=1'; use *" --filter colour=1
    refused "the filter: the .pcf of the trace has no state 'Sleeping'; *" --filter states=Sleeping
    refused "--counters: no interval, or two; *" --counters count=1
    refused "--counters: no interval, or two; *" --counters every=1 --counters bursts=1
    refused "--shift: the trace has no object 3.0.0; *" --shift 3=1
    refused "--shift: a record of t.prv would be 9 ns before 0; *" --shift all=-9
    refused "--translate: invalid value '1:2=3'; *" --translate 1:2=3
    refused "--translate: none.pcf has no labels of events; *" --translate like=none.pcf
    refused "t.row:4: has no section cutter, *" --options t.row
    printf '<config><cutter><minimum_time>x</minimum_time></cutter></config>' >bad.xml
    refused "bad.xml:1: has a value that does not fit its element; *" --options bad.xml
    printf '<config>\n<cutter></filter></config>' >bad.xml
    refused "bad.xml:2: closes an element that is not open; *" --options bad.xml
    echo old >new.pcf
    run "$ASSAY" edit t.prv -o new.prv
    equal 2 "$status"
    equal old "$(cat new.pcf)"
    [ ! -e new.prv ]
    run "$ASSAY" edit t.prv -o /dev/full
    equal 1 "$status"
    like "assay: /dev/full: cannot write: *" "$output"
}
