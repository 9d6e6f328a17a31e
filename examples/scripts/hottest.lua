-- The hottest loops of the last run of an experiment beside what their code says: cycles of an
-- iteration by the model, what limits it, and whether it works on whole vectors.
--   assay script hottest.lua EXP [MOST]
local experiment = assay.subject
assert(assay.kind(experiment) == "experiment", "name an experiment behind the script")
local most = tonumber(assay.arguments[1] or 10)

local rows = experiment:query([[SELECT loop_id, function, exclusive_time_s FROM v_loops
  WHERE run_id = (SELECT max(run_id) FROM run) ORDER BY exclusive_time_s DESC, loop_id LIMIT ?1]], most)
for _, row in ipairs(rows) do
  -- The code may be gone, or another by now; then the row alone is told.
  local known, loop = pcall(experiment.loop, experiment, row.loop_id)
  assay.printf("%8.3f s  %s", row.exclusive_time_s, row["function"])
  if known and loop and loop.path_n > 0 then
    local quality = loop:quality()
    assay.printf("  %.2f cycles, limited by %s", quality.cycles, quality.bound)
    if quality.metrics.vec_ratio_all_pct then
      assay.printf(", %.0f %% on whole vectors", quality.metrics.vec_ratio_all_pct)
    end
  end
  print()
end
