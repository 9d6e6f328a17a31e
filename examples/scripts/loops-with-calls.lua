-- Loops without a loop inside that call something, and what they call: calls keep a loop from
-- being vectorised, and from being measured without its callees.
--   assay script loops-with-calls.lua BIN
local module = assay.subject
assert(assay.kind(module) == "module", "name a binary behind the script")

-- Names of what is called in a loop, each once, in order.
local function callees(loop)
  local seen, names = {}, {}
  for _, instruction in ipairs(loop.instructions) do
    if instruction.class == "call" then
      local callee = instruction.callee
      local name = callee and callee.name or "through a pointer"
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  return names
end

local n = 0
for _, loop in ipairs(module.loops) do
  if #loop.inner == 0 and loop.has_calls then
    n = n + 1
    assay.printf("%-5d %-24s %s:%s  %s\n", loop.id, loop.func.name, loop.file or "?",
      loop.first_line or "?", table.concat(callees(loop), ", "))
  end
end
assay.printf("%d of %d loops call\n", n, #module.loops)
