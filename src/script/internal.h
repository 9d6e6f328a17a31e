/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this room: the state of a running script, and the objects that it sees. An
 * object is an index into the tables of a module. The field list of its kind holds its fields and
 * methods; doc/manual/script.md is made from these lists. A Lua error jumps over C functions, so
 * tables of analyses are in boxes (as_script_box) that Lua frees.
 */
#ifndef AS_SCRIPT_INTERNAL_H
#define AS_SCRIPT_INTERNAL_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "catalogue/catalogue.h"
#include "code/code.h"
#include "experiment/experiment.h"
#include "predict/predict.h"
#include "quality/quality.h"
#include "script/script.h"

struct as_script {
    const struct as_script_request *request;
    lua_State *main;
    uint64_t held_b;  /* bytes of Lua's values */
    int64_t deadline; /* CLOCK_MONOTONIC in ns; 0 = none */
    enum { AS_SCRIPT_GOES_ON, AS_SCRIPT_LATE, AS_SCRIPT_INTERRUPTED, AS_SCRIPT_LARGE } stop;
    char place[256]; /* "file:line" at the stop */
    struct as_uarch *uarch;
    struct as_figures *figures;
    struct as_cqa_engine *engine;
    struct as_predictor *predictor;
};

/* Returns the script that `L` belongs to. */
struct as_script *as_script_of(lua_State *L);
/* Raises a Lua error with the message of `err` and the position in the script; does not return. */
int as_script_fail(lua_State *L, const struct as_error *err);
/* Writes the current position in the script as "file:line"; "" outside of it. Allocates no
 * memory. */
void as_script_place(lua_State *L, char *out, size_t out_b);

/* ---- kinds.c: objects ------------------------------------------------------------------------ */

struct as_script_field {
    const char *name;
    /* its type: "integer", "list of loop"; a method starts with its arguments: "(x) number" */
    const char *gives;
    const char *text;
    /* pushes the value for the object at index 1; NULL = a plain field of a table */
    lua_CFunction get;
};

static inline bool as_script_is_method(const struct as_script_field *field)
{
    return field->gives[0] == '(';
}

enum as_script_kind_id {
    AS_SCRIPT_LIBRARY, /* the table `assay` */
    AS_SCRIPT_MODULE,
    AS_SCRIPT_BODY,
    AS_SCRIPT_LOOP,
    AS_SCRIPT_BLOCK,
    AS_SCRIPT_INSTRUCTION,
    AS_SCRIPT_EDGE,
    AS_SCRIPT_OPERAND,
    AS_SCRIPT_MEMORY,
    AS_SCRIPT_STREAM,
    AS_SCRIPT_DEPENDENCE,
    AS_SCRIPT_QUALITY,
    AS_SCRIPT_WHAT_IF,
    AS_SCRIPT_PREDICTION,
    AS_SCRIPT_EXPERIMENT,
    AS_SCRIPT_KINDS
};

struct as_script_kind {
    const char *name;
    const char *text;
    const struct as_script_field *field; /* ends with an element without a name */
};
extern const struct as_script_kind as_script_library_kind, as_script_module_kind,
    as_script_body_kind, as_script_loop_kind, as_script_block_kind, as_script_instruction_kind,
    as_script_edge_kind, as_script_operand_kind, as_script_memory_kind, as_script_stream_kind,
    as_script_dependence_kind, as_script_quality_kind, as_script_what_if_kind,
    as_script_prediction_kind, as_script_experiment_kind;

/* Makes the metatables of all kinds. */
void as_script_kinds_open(lua_State *L);
/* Pushes a table of all kinds with their fields; returns 1. */
int as_script_push_api(lua_State *L);
/* Sets the kind of the value on top of the stack. */
void as_script_become(lua_State *L, enum as_script_kind_id kind);
/* Returns the memory of the object at index 1; raises an error if it has another kind. */
void *as_script_check(lua_State *L, enum as_script_kind_id kind);

/* An object in the tables of a module: a function, loop, block or instruction. */
struct as_script_object {
    uint32_t number;
    struct as_script_module *module; /* lives as long as the object */
};

struct as_script_module {
    struct as_object *object;
    struct as_program *program;
    uint32_t *block_of; /* by instruction; made at first use */
    /* catalogue that owns the module; NULL = it owns itself */
    struct as_catalogue *catalogue;
    struct as_catalogue_module *listed; /* the module of the catalogue */
};

/* Pushes the object `number` of the module at index 1, or of the module of the object there.
 * Pushes nil for AS_NONE. Equal objects are the same Lua value. Returns 1. */
int as_script_push(lua_State *L, enum as_script_kind_id kind, uint32_t number);
/* Pushes a list of the objects `first` to `first + n - 1`; returns 1. */
int as_script_push_range(lua_State *L, enum as_script_kind_id kind, uint32_t first, size_t n);

/* ---- Values ---------------------------------------------------------------------------------- */

/* Set a field of the table on top of the stack. */
void as_script_set_integer(lua_State *L, const char *name, int64_t value);
void as_script_set_number(lua_State *L, const char *name, double value);   /* NAN sets nothing */
void as_script_set_text(lua_State *L, const char *name, const char *text); /* NULL sets nothing */
void as_script_set_truth(lua_State *L, const char *name, bool value);
int as_script_push_text(lua_State *L, const char *text); /* NULL pushes nil */

/* Allocates memory in a Lua value on the stack. Lua calls `release` and frees it when no value
 * refers to it, also after an error. */
void *as_script_box(lua_State *L, size_t size_b, void (*release)(void *box));
void *as_script_unbox(lua_State *L, int index);

/* ---- Functions of the kinds ------------------------------------------------------------------ */

/* Opens and analyses a file, and pushes its module. Returns 1; raises an error on failure. */
int as_script_open_module(lua_State *L, const char *path);
/* Pushes a module that the catalogue of an experiment has opened. The value at index `holder`
 * stays alive as long as the module. */
int as_script_lend_module(lua_State *L, int holder, struct as_catalogue *catalogue,
                          struct as_catalogue_module *listed);
int as_script_open_experiment(lua_State *L, const char *path);
/* Opens an experiment if `path` is a directory, else a binary, and pushes it. */
int as_script_open_any(lua_State *L, const char *path);
/* Pushes the demangled name of a function. */
int as_script_push_name(lua_State *L, const char *linkage);
/* Returns the source line of an address and sets `file`; 0 = unknown. */
uint32_t as_script_line(const struct as_script_module *module, uint64_t address, const char **file);
int as_script_loop_cqa(lua_State *L);
int as_script_loop_predict(lua_State *L);
int as_script_loop_streams(lua_State *L);
int as_script_loop_dependences(lua_State *L);

/* ---- library.c ------------------------------------------------------------------------------- */

void as_script_library_open(lua_State *L);

#endif
