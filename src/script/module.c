/* SPDX-License-Identifier: Apache-2.0 */
/* Lua objects for modules (binaries with their analysed code) and their functions. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "script/internal.h"

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_module(void *at)
{
    struct as_script_module *module = at;
    as_free(module->block_of);
    if (module->catalogue) {
        as_catalogue_close(module->catalogue, &module->listed);
        return;
    }
    as_program_free(&module->program);
    as_object_close(&module->object);
}

static int collect_module(lua_State *L)
{
    struct as_script_module *module = lua_touserdata(L, 1);
    close_module(module);
    memset(module, 0, sizeof *module);
    return 0;
}

/* Pushes a new module. Its user values are the table of its objects, and a value that must
 * outlive it. */
static struct as_script_module *new_module(lua_State *L)
{
    struct as_script_module *module = lua_newuserdatauv(L, sizeof *module, 2);
    memset(module, 0, sizeof *module);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "v"); /* weak values: unused objects are freed */
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_setiuservalue(L, -2, 1);
    as_script_become(L, AS_SCRIPT_MODULE);
    lua_getmetatable(L, -1);
    lua_pushcfunction(L, collect_module);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2); /* set it again: Lua looks for __gc only then */
    return module;
}

int as_script_open_module(lua_State *L, const char *path)
{
    const struct as_script_request *request = as_script_of(L)->request;
    const struct as_program_options options = {
        .jobs = request->jobs, .path_limit = AS_PATH_LIMIT, .with_source = true};
    struct as_error err;
    struct as_script_module *module = new_module(L);
    if (request->open(request->context, path, &module->object, &err) < 0 ||
        as_program_new(module->object, &options, &module->program, &err) < 0)
        return as_script_fail(L, &err);
    return 1;
}

int as_script_lend_module(lua_State *L, int holder, struct as_catalogue *catalogue,
                          struct as_catalogue_module *listed)
{
    struct as_script_module *module = new_module(L);
    module->catalogue = catalogue;
    module->listed = listed;
    module->object = listed->object;
    module->program = listed->program;
    lua_pushvalue(L, holder);
    lua_setiuservalue(L, -2, 2);
    return 1;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static struct as_script_module *module_of(lua_State *L)
{
    return as_script_check(L, AS_SCRIPT_MODULE);
}

static int module_path(lua_State *L)
{
    return as_script_push_text(L, as_object_info(module_of(L)->object)->path);
}

static int module_build_id(lua_State *L)
{
    const struct as_object_info *info = as_object_info(module_of(L)->object);
    char id[2 * sizeof info->build_id + 1] = "";
    as_hex_encode(id, info->build_id, info->build_id_b);
    return as_script_push_text(L, info->build_id_b ? id : NULL);
}

static int module_functions(lua_State *L)
{
    return as_script_push_range(L, AS_SCRIPT_BODY, 0, module_of(L)->program->body_n);
}

static int module_loops(lua_State *L)
{
    return as_script_push_range(L, AS_SCRIPT_LOOP, 0, module_of(L)->program->loop_n);
}

static int module_instruction_n(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)module_of(L)->program->code.n);
    return 1;
}

static int module_loop(lua_State *L)
{
    const struct as_script_module *module = module_of(L);
    const lua_Integer id = luaL_checkinteger(L, 2);
    if (id < 0 || (uint64_t)id >= module->program->loop_n)
        return luaL_argerror(L, 2, "no loop has this number");
    return as_script_push(L, AS_SCRIPT_LOOP, (uint32_t)id);
}

static int module_function(lua_State *L)
{
    const struct as_script_module *module = module_of(L);
    const char *name = luaL_checkstring(L, 2);
    for (uint32_t b = 0; b < module->program->body_n; b++) {
        if (strcmp(module->program->body[b].name, name) == 0)
            return as_script_push(L, AS_SCRIPT_BODY, b);
        as_script_push_name(L, module->program->body[b].name);
        if (strcmp(lua_tostring(L, -1), name) == 0)
            return as_script_push(L, AS_SCRIPT_BODY, b);
        lua_pop(L, 1);
    }
    lua_pushnil(L);
    return 1;
}

static int module_instruction(lua_State *L)
{
    const struct as_script_module *module = module_of(L);
    const size_t at = as_code_find(&module->program->code, (uint64_t)luaL_checkinteger(L, 2));
    return as_script_push(L, AS_SCRIPT_INSTRUCTION, at == SIZE_MAX ? AS_NONE : (uint32_t)at);
}

static const struct as_script_field module_fields[] = {
    {"path", "text", "the file, as it was given", module_path},
    {"build_id", "text or nil", "in hexadecimal digits", module_build_id},
    {"functions", "list of function", "all bodies of code, by address", module_functions},
    {"loops", "list of loop", "all loops; an outer one stands before those in it", module_loops},
    {"instruction_n", "integer", "instructions of all executable sections", module_instruction_n},
    {"loop", "(id) loop", "the loop of this number", module_loop},
    {"func", "(name) function or nil", "by its readable or its linkage name", module_function},
    {"instruction", "(address) instruction or nil", "that stands there", module_instruction},
    {0}};

const struct as_script_kind as_script_module_kind = {"module", "A binary with its analysed code.",
                                                     module_fields};

/* ---- Functions ------------------------------------------------------------------------------- */

static const struct as_body *body_of(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BODY);
    return &it->module->program->body[it->number];
}

int as_script_push_name(lua_State *L, const char *linkage)
{
    char name[4096];
    const int n = as_demangle(linkage, name, sizeof name);
    return as_script_push_text(L, n > 0 && (size_t)n < sizeof name ? name : linkage);
}

static int body_name(lua_State *L)
{
    return as_script_push_name(L, body_of(L)->name);
}

static int body_linkage(lua_State *L)
{
    return as_script_push_text(L, body_of(L)->name);
}

static int body_module(lua_State *L)
{
    (void)body_of(L);
    lua_getiuservalue(L, 1, 1);
    return 1;
}

static int body_address(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)body_of(L)->entry);
    return 1;
}

static int body_size(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)body_of(L)->size_b);
    return 1;
}

static int body_blocks(lua_State *L)
{
    const struct as_body *body = body_of(L);
    return as_script_push_range(L, AS_SCRIPT_BLOCK, body->first_block, body->blocks);
}

static int body_entry(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BLOCK, body_of(L)->entry_block);
}

static int body_loops(lua_State *L)
{
    const struct as_body *body = body_of(L);
    return as_script_push_range(L, AS_SCRIPT_LOOP, body->first_loop, body->loops);
}

static int body_parent(lua_State *L)
{
    return as_script_push(L, AS_SCRIPT_BODY, body_of(L)->parent);
}

static int body_instructions(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BODY);
    const struct as_program *p = it->module->program;
    const struct as_body *body = &p->body[it->number];
    lua_Integer n = 0;
    lua_newtable(L);
    for (uint32_t b = body->first_block; b < body->first_block + body->blocks; b++)
        for (uint32_t i = 0; i < p->block[b].insns; i++) {
            as_script_push(L, AS_SCRIPT_INSTRUCTION, p->block[b].first_insn + i);
            lua_rawseti(L, 2, ++n);
        }
    return 1;
}

static int body_file(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BODY);
    const char *file = NULL;
    (void)as_script_line(it->module, it->module->program->body[it->number].entry, &file);
    return as_script_push_text(L, file);
}

static int body_line(lua_State *L)
{
    const struct as_script_object *it = as_script_check(L, AS_SCRIPT_BODY);
    const char *file = NULL;
    const uint32_t line =
        as_script_line(it->module, it->module->program->body[it->number].entry, &file);
    if (!line)
        lua_pushnil(L);
    else
        lua_pushinteger(L, line);
    return 1;
}

static int body_bit(lua_State *L, unsigned bit)
{
    lua_pushboolean(L, (body_of(L)->bits & bit) != 0);
    return 1;
}

static int body_is_stub(lua_State *L)
{
    return body_bit(L, AS_BODY_STUB);
}

static int body_never_returns(lua_State *L)
{
    return body_bit(L, AS_BODY_NORETURN);
}

static int body_is_unresolved(lua_State *L)
{
    return body_bit(L, AS_BODY_UNRESOLVED);
}

static const struct as_script_field body_fields[] = {
    {"name", "text", "readable", body_name},
    {"linkage_name", "text", "as the linker knows it", body_linkage},
    {"module", "module", "it is in", body_module},
    {"address", "integer", "of its entry, in the file", body_address},
    {"size_b", "integer", "bytes of all its blocks", body_size},
    {"file", "text or nil", "source file of its entry", body_file},
    {"line", "integer or nil", "source line of its entry", body_line},
    {"blocks", "list of block", "by address", body_blocks},
    {"entry", "block", "where it begins", body_entry},
    {"loops", "list of loop", "an outer one stands before those in it", body_loops},
    {"instructions", "list of instruction", "of all its blocks", body_instructions},
    {"parent", "function or nil", "whose parallel construct it is the body of", body_parent},
    {"is_stub", "boolean", "an entry of the procedure linkage table", body_is_stub},
    {"is_unresolved", "boolean", "it has a jump whose targets are not known", body_is_unresolved},
    {"never_returns", "boolean", "no return is reached", body_never_returns},
    {0}};

const struct as_script_kind as_script_body_kind = {
    "function", "A body of code: a function with its cold parts.", body_fields};
