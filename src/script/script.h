/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the room share: the state of a running script, and objects that a script sees.
 * An object is a number in the tables of a module; what a script can ask of it stands in the list
 * of its kind, from which doc/manual/script.md is made. Between Lua's functions nothing is held
 * that an error, which jumps over them, would leak: tables of the analyses lie in boxes
 * (as_script_box).
 */
#ifndef AS_SCRIPT_SCRIPT_H
#define AS_SCRIPT_SCRIPT_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include <assay/catalogue.h>
#include <assay/code.h>
#include <assay/experiment.h>
#include <assay/predict.h>
#include <assay/quality.h>
#include <assay/script.h>

struct as_script {
    const struct assay_script_request *request;
    lua_State *main;
    uint64_t held_b;  /* by Lua's values */
    int64_t deadline; /* of the monotonic clock; 0: none */
    enum { AS_SCRIPT_GOES_ON, AS_SCRIPT_LATE, AS_SCRIPT_INTERRUPTED, AS_SCRIPT_LARGE } stop;
    char place[256]; /* "file:line" where that was noticed */
    struct assay_uarch *uarch;
    struct assay_figures *figures;
    struct assay_cqa_engine *engine;
    struct assay_predictor *predictor;
};

/* The script that `L` belongs to. */
struct as_script *as_script_of(lua_State *L);
/* Raises a Lua error with the sentence of `err` and the place of the script. */
int as_script_fail(lua_State *L, const struct assay_error *err);
/* Where the script stands: "file:line", or "" outside of it. Allocates nothing. */
void as_script_place(lua_State *L, char *out, size_t out_b);

/* ---- kinds.c: objects ------------------------------------------------------------------------ */

struct as_script_field {
    const char *name;
    const char *gives; /* what it is: "integer", "list of loop"; a method begins with its
                          arguments: "(x) number" */
    const char *text;
    lua_CFunction get; /* of the object at index 1; NULL: set by as_script_record's caller */
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
    const struct as_script_field *field; /* the last has no name */
};
extern const struct as_script_kind as_script_library_kind, as_script_module_kind,
    as_script_body_kind, as_script_loop_kind, as_script_block_kind, as_script_instruction_kind,
    as_script_edge_kind, as_script_operand_kind, as_script_memory_kind, as_script_stream_kind,
    as_script_dependence_kind, as_script_quality_kind, as_script_what_if_kind,
    as_script_prediction_kind, as_script_experiment_kind;

/* Metatables of all kinds. */
void as_script_kinds_open(lua_State *L);
/* Pushes all kinds with their fields, as a table. */
int as_script_push_api(lua_State *L);
/* Gives the value on top its kind. */
void as_script_become(lua_State *L, enum as_script_kind_id kind);
/* The memory of the object at index 1, which must be of that kind. */
void *as_script_check(lua_State *L, enum as_script_kind_id kind);

/* An object of a module's tables: functions, loops, blocks, instructions. */
struct as_script_object {
    uint32_t number;
    struct as_script_module *module; /* lives as long as the object does */
};

struct as_script_module {
    struct assay_object *object;
    struct assay_program *program;
    uint32_t *block_of;                    /* by instruction; made when first asked for */
    struct assay_catalogue *catalogue;     /* whose module it is, or NULL: its own */
    struct assay_catalogue_module *listed; /* of the catalogue */
};

/* Pushes the object `number` of the module that the object at index 1 belongs to (or is); nil for
 * ASSAY_NONE. The same object is the same value. */
int as_script_push(lua_State *L, enum as_script_kind_id kind, uint32_t number);
/* A list of the objects `first` to `first + n - 1`. */
int as_script_push_range(lua_State *L, enum as_script_kind_id kind, uint32_t first, size_t n);

/* ---- Values ---------------------------------------------------------------------------------- */

/* Set a field of the table on top. */
void as_script_set_integer(lua_State *L, const char *name, int64_t value);
void as_script_set_number(lua_State *L, const char *name, double value);   /* NAN: nothing */
void as_script_set_text(lua_State *L, const char *name, const char *text); /* NULL: nothing */
void as_script_set_truth(lua_State *L, const char *name, bool value);
int as_script_push_text(lua_State *L, const char *text); /* NULL: nil */

/* Memory that is freed when nobody sees it any more, or an error passes; `release` gets it. */
void *as_script_box(lua_State *L, size_t size_b, void (*release)(void *box));
void *as_script_unbox(lua_State *L, int index);

/* ---- The kinds' files ------------------------------------------------------------------------ */

/* Opens and analyses a file; pushes its module. */
int as_script_open_module(lua_State *L, const char *path);
/* Pushes the module of an experiment that was opened by its catalogue; keeps the value at index
 * `holder` alive. */
int as_script_lend_module(lua_State *L, int holder, struct assay_catalogue *catalogue,
                          struct assay_catalogue_module *listed);
int as_script_open_experiment(lua_State *L, const char *path);
/* A binary or an experiment, by what stands at `path`. */
int as_script_open_any(lua_State *L, const char *path);
/* The readable name of a function's linkage name, pushed. */
int as_script_push_name(lua_State *L, const char *linkage);
/* Line of an address: its number (0: not known) and file. */
uint32_t as_script_line(const struct as_script_module *module, uint64_t address, const char **file);
int as_script_loop_cqa(lua_State *L);
int as_script_loop_predict(lua_State *L);
int as_script_loop_streams(lua_State *L);
int as_script_loop_dependences(lua_State *L);

/* ---- library.c ------------------------------------------------------------------------------- */

void as_script_library_open(lua_State *L);

#endif
