-- Innermost loops that wait for a chain of results from iteration to iteration, the longest wait
-- first: its cycles, what the loop would take without it, and the instructions of the chain.
--   assay script chains.lua BIN
local module = assay.subject
assert(assay.kind(module) == "module", "name a binary behind the script")

local found = {}
for _, loop in ipairs(module.loops) do
  if #loop.inner == 0 and not loop.is_outsize and loop.path_n > 0 then
    local quality = loop:quality()
    if quality.bound == "latency" then
      found[#found + 1] = {loop = loop, quality = quality}
    end
  end
end
table.sort(found, function(a, b)
  if a.quality.cycles ~= b.quality.cycles then return a.quality.cycles > b.quality.cycles end
  return a.loop.id < b.loop.id
end)
for _, it in ipairs(found) do
  local free = it.quality.what_ifs.independent
  assay.printf("loop %d in %s: %.2f cycles", it.loop.id, it.loop.func.name, it.quality.cycles)
  if free.applies then assay.printf(", %.2f without the chain", free.cycles) end
  print()
  for _, instruction in ipairs(it.quality.chain) do
    assay.printf("    %x  %s\n", instruction.address, instruction.text)
  end
end
assay.printf("%d loops wait for a chain\n", #found)
