-- Every field of every kind: asked of real objects, its value is of the type that the list says,
-- and a table has no key that the list lacks. Prints how many values of each kind it looked at.
-- Fields are taken in the order of the list: that of a table's keys changes from run to run, and
-- with it which objects are reached before there were enough of their kind.
local kinds, seen, fields = {}, {}, {}
for _, kind in ipairs(assay.api) do
  kinds[kind.name], fields[kind.name] = {}, kind.fields
  for _, field in ipairs(kind.fields) do kinds[kind.name][field.name] = field end
  seen[kind.name] = 0
end

local check

local function check_type(value, gives, where)
  if value == nil and gives:find(" or nil", 1, true) then return end
  gives = gives:gsub(" or nil", "")
  local item = gives:match("^list of (.+)$")
  if item or gives:match("^table of ") then
    assert(type(value) == "table", where .. " is no table")
    if item then for i, v in ipairs(value) do
      if i > 12 then break end
      check_type(v, item, where .. "[" .. i .. "]")
    end else for k, v in pairs(value) do
      check_type(v, gives:match("^table of (.+)$"), where .. "." .. k)
    end end
  elseif gives == "row" then assert(type(value) == "table", where)
  elseif gives == "integer" then assert(math.type(value) == "integer", where .. " is no integer")
  elseif gives == "number" then assert(type(value) == "number", where .. " is no number")
  elseif gives == "text" then assert(type(value) == "string", where .. " is no text")
  elseif gives == "boolean" then assert(type(value) == "boolean", where .. " is no boolean")
  elseif gives == "table" then assert(type(value) == "table", where)
  else
    assert(kinds[gives], "the list names the kind " .. gives .. " of " .. where)
    assert(type(value) == "table" or assay.kind(value) == gives, where .. " is no " .. gives)
    check(value, gives, where)
  end
end

-- What methods take for a call.
local arguments = {
  module = {loop = {0}, func = {"daxpy"}, instruction = {assay.subject.loops[1].address}}
}

function check(value, kind, where)
  if seen[kind] >= 400 then return end
  seen[kind] = seen[kind] + 1
  if type(value) == "table" then
    for key in pairs(value) do
      assert(kinds[kind][key], where .. "." .. tostring(key) .. " is not in the list")
    end
  end
  for _, field in ipairs(fields[kind]) do
    local name, gives = field.name, field.gives
    local it = value[name]
    if kind == "what-if" and not value.applies and name ~= "applies" then gives = "text or nil" end
    if field.method then
      gives = gives:gsub("^%b() ", "")
      it = it(value, table.unpack((arguments[kind] or {})[name] or {}))
    end
    check_type(it, gives, where .. "." .. name)
  end
end

-- Loops come first: a module begins with code that touches no memory.
for _, loop in ipairs(assay.subject.loops) do check(loop, "loop", "loop" .. loop.id) end
check(assay.subject, "module", "module")
for kind, n in pairs(seen) do
  if kind ~= "assay" and kind ~= "experiment" then assert(n > 0, "no " .. kind .. " was met") end
end
print("checked")
