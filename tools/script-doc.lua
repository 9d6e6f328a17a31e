-- The part of doc/manual/script.md that lists what scripts can ask, from the lists that answer them:
--   build/assay script tools/script-doc.lua
local function cell(text)
  return (text:gsub("|", "\\|"))
end

for _, kind in ipairs(assay.api) do
  assay.printf("### %s\n%s\n\n| name | gives | |\n|---|---|---|\n", kind.name, kind.text)
  for _, field in ipairs(kind.fields) do
    assay.printf("| `%s` | %s | %s |\n", field.name, cell(field.gives), cell(field.text))
  end
  print()
end
