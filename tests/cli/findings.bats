# SPDX-License-Identifier: Apache-2.0
# Findings: one order everywhere, seven first, and what to type.

setup_file() {
    load common.bash
    "$MAKE_EXPERIMENT" "it's x.assay"
    # Findings of every class, with ties and unknown values, in an arbitrary order.
    python3 - "it's x.assay/experiment.db" <<'PY'
import sqlite3, sys

db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM finding")
rows = [ # level, text, gain with its bounds, seconds
    ("hint", "hint of 3 s", None, 3), ("expert", "expert of 9 s", None, 9),
    ("gain", "sure but small", (1.05, 1.04, 1.06), 1), ("potential", "potential of 2 s", None, 2),
    ("potential", "potential of nothing", None, None), ("gain", "large but unsure", (2, 1, 3), 5),
    ("gain", "large and sure", (1.5, 1.4, 1.6), 1), ("hint", "hint of nothing", None, None),
    ("gain", "larger, hardly sure", (1.6, 1.001, 3), 1), ("hint", "hint of 3 s too", None, 3),
    ("potential", "potential of 6 s", None, 6), ("potential", "small and unsure", (1.03, 1, 1.04), 4)]
for level, text, gain, seconds in rows:
    value, low, high = gain or (None,) * 3
    db.execute("INSERT INTO finding (run_id, object_kind, object_id, topic, level, text, command, gain,"
               " gain_low, gain_high, gain_origin, gain_n, time_ns, pass) VALUES (1, 'run', 1, 'test', ?,"
               " ?, 'assay show {experiment} --view threads', ?, ?, ?, ?, ?, ?, 'test')",
               (level, text, value, low, high, gain and "derived", gain and 9,
                seconds and int(seconds * 1e9)))
db.commit()
PY
}
setup() { load common.bash; }

# Shares of the run: gains 0.31 and 0.19 (mean of gain and lower bound). A bound 0.17 (a quarter of it).
# The small gain 0.04, but its upper bound is 0.057: more than 0.05 come before times without a bound.
want="large and sure
larger, hardly sure
large but unsure
sure but small
potential of 6 s
potential of 2 s
potential of nothing
small and unsure
hint of 3 s
hint of 3 s too
hint of nothing
expert of 9 s"

@test "findings: gains and bounds, potentials by time, hints, and what is for experts" {
    equal "$want" "$("$ASSAY" query --format csv "it's x.assay" \
        "SELECT text FROM v_findings ORDER BY rank" | tail -n +2 | tr -d '"')"
    equal "$want" "$("$ASSAY" show --view findings --format json "it's x.assay" | python3 -c \
        'import json, sys; print("\n".join(it["text"] for it in json.load(sys.stdin)))')"
}
@test "findings: terminal and JSON show the first seven in that order" {
    COLUMNS=200 "$ASSAY" show "it's x.assay" >out
    equal "$(head -7 <<<"$want")" "$(sed -n 's/^  [1-7]\. \(.*: \)\?//p' out)"
    like "*5 more: --view findings*" "$(cat out)"
    equal "$(head -7 <<<"$want")" "$("$ASSAY" show --format json "it's x.assay" | python3 -c \
        'import json, re, sys
for it in json.load(sys.stdin)["advice"]: print(re.sub("^.*s: ", "", it["text"]))')"
    equal 12 "$("$ASSAY" show --format json "it's x.assay" | json '["finding_n"]')"
    # Typed as it stands, it works.
    equal "    assay show 'it'\\''s x.assay' --view threads" "$(grep 'view threads' out)"
}
@test "findings: data of the page and workbook have all in that order" {
    "$ASSAY" report --format json "it's x.assay"
    python3 - "$want" <<'PY'
import json, sys

said = json.load(open("it's x.assay/report.json"))["findings"]
ours = [it["text"] for it in said if it["topic"] == "test"]
assert ours == sys.argv[1].split("\n"), ours
assert [it["rank"] for it in said] == list(range(1, len(said) + 1))
PY
    "$ASSAY" report --format xlsx "it's x.assay"
    PYTHONPATH="$BATS_TEST_DIRNAME" PYTHONDONTWRITEBYTECODE=1 python3 - <<'PY'
import json
import xlsx

said = json.load(open("it's x.assay/report.json"))["findings"]
texts = [it["text"] for it in said]
cells = [cell for row in xlsx.Book("it's x.assay/report.xlsx").rows("Summary") for cell in row.values()]
assert [cell for cell in cells if cell in texts] == texts, cells
PY
}
