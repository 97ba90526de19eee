-- A session in Neovim: diagnostics, hover, hint and applied fix, written down as JSON.
-- DEVLINT_FILE is what is opened, DEVLINT_REPORT where the report goes.

local report = {}
local file = vim.env.DEVLINT_FILE
local patience = 60000

vim.cmd("edit " .. file)
local buffer = vim.api.nvim_get_current_buf()
local clients = vim.lsp.get_clients or vim.lsp.get_active_clients

local function wait(what, holds)
  if not vim.wait(patience, holds, 50) then
    report.problem = "waited in vain for " .. what
    vim.fn.writefile({ vim.fn.json_encode(report) }, vim.env.DEVLINT_REPORT)
    vim.cmd("cquit")
  end
end

wait("a server", function()
  return #clients() > 0
end)
local id = clients()[1].id

local function found()
  return vim.tbl_map(function(one)
    return { code = one.code, line = one.lnum + 1, source = one.source }
  end, vim.diagnostic.get(buffer))
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, patience)
  local answer = answers and answers[id]
  return answer and answer.result
end

local function at(row, column)
  vim.api.nvim_win_set_cursor(0, { row, column })
  return vim.lsp.util.make_position_params(0, vim.lsp.get_client_by_id(id).offset_encoding)
end

wait("diagnostics", function()
  return #vim.diagnostic.get(buffer) > 0
end)
report.diagnostics = found()

local here = at(3, 1)
local hover
wait("a hover", function()
  hover = ask("textDocument/hover", here)
  return hover ~= nil and hover ~= vim.NIL
end)
report.hover = hover.contents.value

local everything = {
  start = { line = 0, character = 0 },
  ["end"] = { line = vim.api.nvim_buf_line_count(buffer), character = 0 },
}
report.hints = ask("textDocument/inlayHint", { textDocument = here.textDocument, range = everything })

local there = at(7, 6)
local actions = ask("textDocument/codeAction", {
  textDocument = there.textDocument,
  range = { start = there.position, ["end"] = there.position },
  context = { diagnostics = {} },
})
for _, action in ipairs(actions) do
  if action.isPreferred then
    local edit = action.edit or ask("codeAction/resolve", action).edit
    vim.lsp.util.apply_workspace_edit(edit, vim.lsp.get_client_by_id(id).offset_encoding)
    report.fix = action.title
    break
  end
end
wait("the finding to go", function()
  return #vim.diagnostic.get(buffer) == 0
end)
report.text = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
vim.fn.writefile({ vim.fn.json_encode(report) }, vim.env.DEVLINT_REPORT)
vim.lsp.stop_client(id)
vim.cmd("quitall!")
