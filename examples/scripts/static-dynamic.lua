-- Static against measured cycles: for each loop that probes timed (assay probe, with
-- examples/probes/hot-loops.probe), cycles of an iteration by the model of the core beside those
-- of the run. Far above 1 the loop waits for what the code alone does not show: memory, branches.
--   assay script static-dynamic.lua EXP
local experiment = assay.subject
assert(assay.kind(experiment) == "experiment", "name an experiment behind the script")

local rows = experiment:query([[SELECT p.loop_id, f.name, l.first_line_id, n.number AS line,
    p.probe_entry_n AS entries, p.probe_round_n AS rounds, p.probe_round_cycles AS measured
  FROM v_set_probes p JOIN loop l USING (loop_id) JOIN function f USING (function_id)
  LEFT JOIN line n ON n.line_id = l.first_line_id
  WHERE p.probe_round_n > 0 AND p.probe_round_cycles IS NOT NULL
  ORDER BY p.probe_time_s DESC, p.loop_id]])
print("entries   rounds/entry  static  measured  ratio  loop")
for _, row in ipairs(rows) do
  local loop = experiment:loop(row.loop_id)
  -- A loop with others inside has no cycles of its own to predict.
  if loop and #loop.inner == 0 and loop.path_n > 0 then
    local static = loop:quality().cycles
    assay.printf("%7d  %13.1f  %6.2f  %8.2f  %5.2f  %s:%s\n", row.entries,
      row.rounds / row.entries, static, row.measured, row.measured / static, row.name,
      row.line or "?")
  end
end
