-- How much of each function's floating-point arithmetic works on whole vectors, counted in the
-- code, those with most arithmetic first.
--   assay script vector-ratio.lua BIN [MOST]
local module = assay.subject
assert(assay.kind(module) == "module", "name a binary behind the script")
local most = tonumber(assay.arguments[1] or 20)

local rows = {}
for _, func in ipairs(module.functions) do
  local packed, scalar = 0, 0
  for _, instruction in ipairs(func.instructions) do
    if instruction.flops > 0 then
      if instruction.is_packed then packed = packed + 1 else scalar = scalar + 1 end
    end
  end
  if packed + scalar > 0 then
    rows[#rows + 1] = {name = func.name, n = packed + scalar, ratio = packed / (packed + scalar)}
  end
end
table.sort(rows, function(a, b)
  if a.n ~= b.n then return a.n > b.n end
  return a.name < b.name
end)
for i = 1, math.min(most, #rows) do
  assay.printf("%5.1f %%  of %4d  %s\n", 100 * rows[i].ratio, rows[i].n, rows[i].name)
end
