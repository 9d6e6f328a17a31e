/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue on shared objects that are compiled here: what is opened and analysed how often is
 * counted, and ids of rows are asked for by several passes. The truth is the source below and the
 * database itself.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "built.h"
#include "catalogue/catalogue.h"

/* Lines count from the one after SOURCE's opening quote. */
static const char source[] = "int hot(int *a, int n)\n"              /* 1 */
                             "{\n"                                   /* 2 */
                             "    int s = 0;\n"                      /* 3 */
                             "    for (int i = 0; i < n; i++)\n"     /* 4 */
                             "        for (int k = 0; k < n; k++)\n" /* 5 */
                             "            s += a[i] > k ? a[k] : k;\n"
                             "    return s;\n"
                             "}\n"
                             "int cold(int *a, int n)\n" /* 9 */
                             "{\n"
                             "    for (int i = 0; i < n; i++)\n" /* 11 */
                             "        a[i] /= n;\n"
                             "    return a[0];\n"
                             "}\n";

#define FLAGS "-g -O1 -fno-tree-vectorize -fno-if-conversion -fno-if-conversion2 -Wl,--build-id"

struct setting {
    char directory[64], path[96], other[96], kept_directory[96], kept[112];
    struct as_experiment *store;
    struct as_catalogue *catalogue;
};

static struct setting it;
static struct as_error err;

#define fine(call)                                                                                 \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* ---- Setting ------------------------------------------------------------------------------- */

static void build(const char *flags, const char *path)
{
    struct built built = built_new_kept(TEST_CC, flags, "c", source, path);
    built_free(&built);
}

static void shell(const char *text)
{
    if (system(text) != 0)
        fail_msg("%s", text);
}

static int make_files(void **state)
{
    (void)state;
    strcpy(it.directory, "catalogue-test-XXXXXX");
    assert_non_null(mkdtemp(it.directory));
    snprintf(it.path, sizeof it.path, "%s/m.so", it.directory);
    snprintf(it.other, sizeof it.other, "%s/other.so", it.directory);
    snprintf(it.kept_directory, sizeof it.kept_directory, "%s/run-001", it.directory);
    snprintf(it.kept, sizeof it.kept, "%s/kept-m.so", it.kept_directory);
    build(FLAGS, it.path);
    build(FLAGS " -DOTHER -fno-inline -O2", it.other);
    return 0;
}

static int remove_files(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", it.directory);
    return system(command);
}

static int make_store(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/x.assay", it.directory);
    fine(as_experiment_create(path, AS_EXPERIMENT_FORCE, &it.store, &err));
    fine(as_catalogue_new(it.store, NULL, &it.catalogue, &err));
    return 0;
}

static int remove_store(void **state)
{
    (void)state;
    as_catalogue_free(&it.catalogue);
    as_experiment_close(&it.store, NULL);
    return 0;
}

static void renew(uint64_t memory_b)
{
    const struct as_catalogue_options options = {.memory_b = memory_b};
    as_catalogue_free(&it.catalogue);
    fine(as_catalogue_new(it.store, &options, &it.catalogue, &err));
}

static void identify(const char *path, struct as_file_identity *file)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && as_file_identify(fd, file));
    close(fd);
}

static struct as_catalogue_request request_of(const char *path)
{
    struct as_catalogue_request request = {.file = {.path = path, .kind = AS_MODULE_FILE},
                                           .depth = AS_CATALOGUE_ANALYSED};
    identify(path, &request.file.file);
    return request;
}

static void take_build_id(const char *path, struct as_stream_module *module)
{
    struct as_object *object;
    fine(as_object_open(path, NULL, &object, &err));
    const struct as_object_info *info = as_object_info(object);
    module->file = (struct as_file_identity){.build_id_b = (uint8_t)info->build_id_b};
    assert_in_range(info->build_id_b, 1, sizeof module->file.build_id);
    memcpy(module->file.build_id, info->build_id, info->build_id_b);
    as_object_close(&object);
}

static struct as_catalogue_module *open_as(const struct as_catalogue_request *request)
{
    struct as_catalogue_module *module;
    fine(as_catalogue_open(it.catalogue, request, &module, &err));
    return module;
}

static struct as_catalogue_module *open_path(const char *path)
{
    const struct as_catalogue_request request = request_of(path);
    return open_as(&request);
}

static uint64_t analysed(void)
{
    return as_catalogue_counts(it.catalogue).analysed;
}

/* The n-th loop of a function, outer before inner. */
static uint32_t loop_of(const struct as_catalogue_module *module, const char *name, uint32_t n)
{
    for (size_t i = 0; i < module->program->body_n; i++) {
        const struct as_body *body = &module->program->body[i];
        if (strcmp(body->name, name) == 0 && n < body->loops)
            return body->first_loop + n;
    }
    fail_msg("%s has no loop %u", name, n);
    return AS_NONE;
}

static uint64_t address_of(const struct as_catalogue_module *module, uint32_t loop)
{
    return module->program->block[module->program->loop[loop].header].start;
}

static int64_t row_of_loop(struct as_catalogue_module *module, uint32_t loop)
{
    int64_t id;
    fine(as_catalogue_row_loop(module, loop, &id, &err));
    assert_true(id > 0);
    return id;
}

/* First column of the only row, as text. */
static const char *ask(const char *sql, int64_t id)
{
    static char text[512];
    struct as_rows *rows;
    fine(as_rows_open(it.store, sql, &rows, &err));
    as_rows_bind_integer(rows, 1, id);
    assert_int_equal(as_rows_next(rows, &err), 1);
    const char *cell = as_rows_text(rows, 0);
    snprintf(text, sizeof text, "%s", cell ? cell : "-");
    as_rows_close(&rows);
    return text;
}

static int64_t count_rows(const char *table)
{
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE 0 < ?1", table);
    return atoll(ask(sql, 1));
}

/* ---- One analysis, one id ------------------------------------------------------------------ */

static void test_two_passes(void **state)
{
    (void)state;
    struct as_catalogue_module *first = open_path(it.path), *second;
    const uint32_t inner = loop_of(first, "hot", 1);
    const uint64_t address = address_of(first, inner);
    const int64_t id = row_of_loop(first, inner);
    int64_t module_id;
    fine(as_catalogue_row(first, &module_id, &err));
    as_catalogue_close(it.catalogue, &first);
    assert_null(first);

    /* A later pass knows only the row of the module, and an address. */
    fine(as_catalogue_open_row(it.catalogue, module_id, 0.5, AS_CATALOGUE_ANALYSED, &second, &err));
    const uint32_t found = as_catalogue_find_loop(second, address, 0);
    assert_int_equal(found, inner);
    assert_int_equal(as_catalogue_find_loop(second, address, 2), inner);
    assert_int_equal(as_catalogue_find_loop(second, address, 1), AS_NONE);
    assert_int_equal(as_catalogue_find_loop(second, address + 1, 0), AS_NONE);
    assert_int_equal(row_of_loop(second, found), id);
    assert_int_equal(count_rows("loop"), 2); /* and the one around it */
    as_catalogue_close(it.catalogue, &second);
    assert_int_equal(analysed(), 1);
    assert_int_equal(as_catalogue_counts(it.catalogue).opened, 1);
}

/* A later process has a catalogue of its own and finds the same rows. */
static void test_another_process(void **state)
{
    (void)state;
    struct as_catalogue_module *module = open_path(it.path);
    const int64_t id = row_of_loop(module, loop_of(module, "hot", 1));
    int64_t module_id;
    fine(as_catalogue_row(module, &module_id, &err));
    as_catalogue_close(it.catalogue, &module);
    renew(0);
    fine(as_catalogue_open_row(it.catalogue, module_id, 1, AS_CATALOGUE_ANALYSED, &module, &err));
    assert_non_null(module->program);
    assert_int_equal(row_of_loop(module, loop_of(module, "hot", 1)), id);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(analysed(), 1);
    assert_int_equal(count_rows("module"), 1);
    assert_int_equal(count_rows("loop"), 2);
    assert_int_equal(
        as_catalogue_open_row(it.catalogue, 77, 1, AS_CATALOGUE_ANALYSED, &module, &err),
        AS_ERR_NOT_FOUND);
    assert_null(module);
}

/* Ids of a batch that came to nothing are given anew, and are in the database then. */
static void test_rollback(void **state)
{
    (void)state;
    struct as_catalogue_module *module = open_path(it.path);
    int64_t function, line;
    fine(as_experiment_begin(it.store, &err));
    row_of_loop(module, loop_of(module, "hot", 0));
    as_experiment_rollback(it.store);
    assert_int_equal(count_rows("loop"), 0);
    fine(as_experiment_begin(it.store, &err));
    fine(as_catalogue_row_line(module, 0, 1, &line, &err));
    fine(as_catalogue_row_function(module, 0, &function, &err));
    const int64_t id = row_of_loop(module, loop_of(module, "hot", 0));
    fine(as_experiment_commit(it.store, &err));
    assert_string_equal(ask("SELECT f.name FROM loop JOIN function f USING (function_id)"
                            " JOIN module USING (module_id) WHERE loop_id = ?1",
                            id),
                        "hot");
    assert_int_equal(count_rows("module"), 1);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(analysed(), 1);
}

/* ---- What becomes a row -------------------------------------------------------------------- */

static void test_unsampled_loop(void **state)
{
    (void)state;
    struct as_catalogue_module *module = open_path(it.path);
    const int64_t id = row_of_loop(module, loop_of(module, "cold", 0));
    assert_string_equal(
        ask("SELECT f.name || ' ' || depth || ' ' || is_innermost || ' ' || a.number"
            " FROM loop JOIN function f USING (function_id)"
            " JOIN line a ON a.line_id = first_line_id WHERE loop_id = ?1",
            id),
        "cold 1 1 11");
    assert_int_equal(count_rows("function"), 1); /* nothing but what was asked for */
    assert_int_equal(count_rows("block"), 0);
    int64_t none;
    fine(as_catalogue_row_loop(module, AS_NONE, &none, &err));
    assert_int_equal(none, 0);
    as_catalogue_close(it.catalogue, &module);
}

static void add_edges(struct as_catalogue_module *module, uint32_t loop, size_t *n)
{
    const struct as_program *program = module->program;
    const struct as_loop *from = &program->loop[loop];
    *n = 0;
    for (uint32_t i = 0; i < from->blocks; i++) {
        const uint32_t block = program->loop_block[from->first_block + i];
        for (uint32_t k = 0; k < program->block[block].succs; k++, ++*n) {
            int64_t id, again;
            fine(as_catalogue_row_edge(module, block, k, &id, &err));
            fine(as_catalogue_row_edge(module, block, k, &again, &err));
            assert_int_equal(id, again);
        }
    }
}

static void test_edges_and_paths(void **state)
{
    (void)state;
    struct as_catalogue_module *module = open_path(it.path);
    const uint32_t loop = loop_of(module, "hot", 1);
    struct as_paths paths;
    size_t edge_n;
    int64_t id[8], again;
    char blocks[512];
    add_edges(module, loop, &edge_n);
    assert_int_equal(count_rows("edge"), edge_n);
    assert_int_equal(count_rows("(SELECT * FROM edge WHERE is_back)"),
                     module->program->loop[loop].back_edges);

    fine(as_loop_paths(module->program, loop, 8, &paths, &err));
    assert_in_range(paths.path_n, 2, 8); /* of the condition */
    for (size_t i = 0; i < paths.path_n; i++) {
        fine(as_catalogue_row_path(module, loop, &paths, i, &id[i], &err));
        assert_true(i == 0 || id[i] != id[i - 1]);
        fine(as_catalogue_row_path(module, loop, &paths, i, &again, &err));
        assert_int_equal(id[i], again);
        assert_int_equal(atoll(ask("SELECT number FROM v_paths WHERE path_id = ?1", id[i])), i + 1);
    }
    assert_int_equal(count_rows("path"), paths.path_n);
    blocks[0] = 0;
    for (uint32_t i = 0; i < paths.path[1].blocks; i++)
        snprintf(
            blocks + strlen(blocks), sizeof blocks - strlen(blocks), "%s0x%llx", i ? " " : "",
            (unsigned long long)module->program->block[paths.block[paths.path[1].first + i]].start);
    assert_string_equal(ask("SELECT blocks FROM v_paths WHERE path_id = ?1", id[1]), blocks);
    as_paths_free(&paths);

    fine(as_loop_paths(module->program, loop, 1, &paths, &err));
    assert_true(paths.merged);
    fine(as_catalogue_row_path(module, loop, &paths, 0, &again, &err));
    assert_string_equal(ask("SELECT number FROM v_paths WHERE path_id = ?1", again), "0");
    as_paths_free(&paths);
    as_catalogue_close(it.catalogue, &module);
}

static void test_excerpt(void **state)
{
    (void)state;
    struct as_catalogue_module *module = open_path(it.path);
    size_t room = 1000;
    const uint32_t body = module->program->loop[loop_of(module, "cold", 0)].body;
    fine(as_catalogue_rows_excerpt(module, body, &room, &err));
    size_t insns = 0;
    for (uint32_t i = 0; i < module->program->body[body].blocks; i++)
        insns += module->program->block[module->program->body[body].first_block + i].insns;
    assert_int_equal(count_rows("disassembly"), insns);
    assert_int_equal(room, 1000 - insns);
    as_catalogue_close(it.catalogue, &module);
}

static void check_blocks(struct as_catalogue_module *module, const uint32_t *block, size_t n,
                         int64_t want_rows)
{
    int64_t id;
    fine(as_catalogue_rows_blocks(module, block, n, &err));
    assert_int_equal(count_rows("block"), want_rows);
    for (size_t i = 0; i < n; i++) {
        char address[32];
        fine(as_catalogue_row_block(module, block[i], &id, &err));
        snprintf(address, sizeof address, "%llu",
                 (unsigned long long)module->program->block[block[i]].start);
        assert_string_equal(ask("SELECT address FROM block WHERE block_id = ?1", id), address);
    }
    assert_int_equal(count_rows("block"), want_rows);
    assert_int_equal(count_rows("(SELECT DISTINCT function_id, address FROM block)"), want_rows);
}

/* No block is stored twice, whoever wrote it: this entry, one that forgot it, another entry of the
 * same module, another process. */
static void test_blocks_at_once(void **state)
{
    (void)state;
    struct as_catalogue_request request = {.depth = AS_CATALOGUE_ANALYSED};
    char command[512];
    int64_t id, module_id;
    snprintf(command, sizeof command, "mkdir -p %s && cp %s %s", it.kept_directory, it.path,
             it.kept);
    shell(command);
    take_build_id(it.path, &request.file);
    request.file.path = it.path;
    struct as_catalogue_module *module = open_as(&request), *same;
    const uint32_t loop = loop_of(module, "hot", 0);
    const uint32_t b = module->program->body[module->program->loop[loop].body].first_block;
    const uint32_t twice[] = {b + 2, b, b + 2}, other[] = {b + 3, b},
                   all[] = {b + 1, b, b + 3, b + 2};

    fine(as_experiment_begin(it.store, &err));
    check_blocks(module, twice, 3, 2);
    as_experiment_rollback(it.store);
    assert_int_equal(count_rows("block"), 0);
    check_blocks(module, twice, 3, 2);
    fine(as_catalogue_row_block(module, b + 2, &id, &err));
    assert_int_equal(id, 1);

    request.directory = it.kept_directory;
    request.file.kept = "kept-m.so";
    same = open_as(&request);
    assert_true(same != module && same->program);
    fine(as_catalogue_row(module, &module_id, &err));
    fine(as_catalogue_row(same, &id, &err));
    assert_int_equal(id, module_id);
    check_blocks(same, other, 2, 3);
    check_blocks(module, all, 4, 4);
    as_catalogue_close(it.catalogue, &same);
    as_catalogue_close(it.catalogue, &module);

    renew(1); /* nothing stays open: what was written is not remembered */
    for (int i = 0; i < 2; i++) {
        module = open_as(&request);
        check_blocks(module, all, 4, 4);
        as_catalogue_close(it.catalogue, &module);
    }
}

/* ---- Which file ---------------------------------------------------------------------------- */

static void test_wrong_build_id(void **state)
{
    (void)state;
    struct as_catalogue_request request = request_of(it.path);
    take_build_id(it.other, &request.file);
    struct as_catalogue_module *module = open_as(&request);
    int64_t id;
    assert_null(module->object);
    assert_null(module->program);
    assert_non_null(strstr(module->trouble.text, "build-id"));
    /* It still has a row, which says what ran, and code of no known function. */
    fine(as_catalogue_row_function(module, AS_NONE, &id, &err));
    assert_string_equal(ask("SELECT f.name || ' ' || m.name FROM function f"
                            " JOIN module m USING (module_id) WHERE function_id = ?1",
                            id),
                        "[unknown] m.so");
    as_catalogue_close(it.catalogue, &module);

    take_build_id(it.path, &request.file);
    module = open_as(&request);
    assert_non_null(module->program);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(count_rows("module"), 1);
}

/* The copy is of the other program, the file has been replaced since. */
static void test_kept_copy(void **state)
{
    char command[512];
    (void)state;
    snprintf(command, sizeof command, "mkdir -p %s && cp %s %s", it.kept_directory, it.other,
             it.kept);
    shell(command);
    struct as_catalogue_request request = request_of(it.path);
    request.directory = it.kept_directory;
    request.file.kept = "kept-m.so";
    take_build_id(it.other, &request.file);
    struct as_catalogue_module *module = open_as(&request);
    assert_non_null(module->program);
    assert_string_equal(as_object_info(module->object)->path, it.kept);
    as_catalogue_close(it.catalogue, &module);

    /* Without the copy only the file is left, and it is a different file. */
    assert_int_equal(unlink(it.kept), 0);
    renew(0);
    module = open_as(&request);
    assert_null(module->object);
    as_catalogue_close(it.catalogue, &module);
}

/* By its row too: the copy stands in the experiment. */
static void test_kept_copy_by_row(void **state)
{
    char directory[160], command[512], kept[200];
    (void)state;
    snprintf(directory, sizeof directory, "%s/run-001", as_experiment_path(it.store));
    snprintf(kept, sizeof kept, "%s/kept-m.so", directory);
    snprintf(command, sizeof command, "mkdir -p %s && cp %s %s", directory, it.other, kept);
    shell(command);
    const struct as_row_module row = {
        .path = it.path, .name = "m.so", .kind = "shared", .kept_path = "run-001/kept-m.so"};
    struct as_catalogue_module *module;
    int64_t id, same;
    fine(as_experiment_add_module(it.store, &row, &id, &err));
    fine(as_catalogue_open_row(it.catalogue, id, 1, AS_CATALOGUE_ANALYSED, &module, &err));
    assert_string_equal(as_object_info(module->object)->path, kept);
    fine(as_catalogue_row(module, &same, &err));
    assert_int_equal(same, id);
    as_catalogue_close(it.catalogue, &module);
}

/* ---- How much, by how many ----------------------------------------------------------------- */

static void test_depth(void **state)
{
    (void)state;
    struct as_catalogue_request request = request_of(it.path);
    struct as_catalogue_place place;
    int64_t listed, known;
    request.depth = AS_CATALOGUE_LISTED;
    struct as_catalogue_module *module = open_as(&request);
    assert_null(module->program);
    assert_int_equal(analysed(), 0);
    assert_true(module->function_n > 0 && module->debug.line_n > 0);
    uint64_t hot = 0;
    for (uint32_t i = 0; i < as_catalogue_function_n(module); i++)
        if (strcmp(module->function[i].name, "hot") == 0)
            hot = module->function[i].start;
    as_catalogue_find(module, hot, &place);
    assert_in_range(place.line, 1, 8);
    fine(as_catalogue_row_function(module, place.function, &listed, &err));
    as_catalogue_close(it.catalogue, &module);

    module = open_path(it.path);
    assert_non_null(module->program);
    as_catalogue_find(module, hot, &place);
    fine(as_catalogue_row_function(module, place.function, &known, &err));
    assert_int_equal(known, listed); /* whatever its number is */
    as_catalogue_close(it.catalogue, &module);

    module = open_as(&request); /* more than was asked for is there */
    assert_non_null(module->program);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(analysed(), 1);

    renew(0);
    request.small_b = 1 << 20;
    module = open_as(&request);
    assert_non_null(module->program);
    as_catalogue_close(it.catalogue, &module);
    module = open_path(it.path);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(analysed(), 1);
}

static void open_and_close(const char *path, double share)
{
    struct as_catalogue_request request = request_of(path);
    request.share = share;
    struct as_catalogue_module *module = open_as(&request);
    assert_non_null(module->program);
    as_catalogue_close(it.catalogue, &module);
}

/* With room for one of two the hotter one stays; with none nothing does, but what is open. */
static void test_room(void **state)
{
    (void)state;
    open_and_close(it.path, 0.9);
    const uint64_t one_b = as_catalogue_counts(it.catalogue).kept_b;
    renew(one_b + one_b / 2);
    open_and_close(it.path, 0.9);
    open_and_close(it.other, 0.1);
    assert_int_equal(as_catalogue_counts(it.catalogue).dropped, 1);
    assert_in_range(as_catalogue_counts(it.catalogue).kept_b, 1, one_b + one_b / 2);
    open_and_close(it.path, 0.9);
    assert_int_equal(analysed(), 2);
    open_and_close(it.other, 0.95); /* hotter now: the first one goes */
    open_and_close(it.other, 0.1);
    assert_int_equal(analysed(), 3);
    open_and_close(it.path, 0.2);
    assert_int_equal(analysed(), 4);

    renew(1);
    struct as_catalogue_module *module = open_path(it.path);
    const int64_t id = row_of_loop(module, loop_of(module, "hot", 0));
    open_and_close(it.other, 0.9);
    assert_string_equal(ask("SELECT depth FROM loop WHERE loop_id = ?1", id), "1");
    assert_non_null(module->program);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(as_catalogue_counts(it.catalogue).kept_b, 0);
    module = open_path(it.path);
    assert_int_equal(row_of_loop(module, loop_of(module, "hot", 0)), id);
    as_catalogue_close(it.catalogue, &module);
    assert_int_equal(analysed(), 3);
}

#define THREADS 8

static void *open_both(void *context)
{
    struct as_catalogue_module **out = context;
    const char *const path[] = {it.path, it.other};
    struct as_error why;
    for (int i = 0; i < 2; i++) {
        const struct as_catalogue_request request = request_of(path[i]);
        if (as_catalogue_open(it.catalogue, &request, &out[i], &why) < 0)
            out[i] = NULL;
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    struct as_catalogue_module *got[THREADS][2];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, open_both, got[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int k = 0; k < 2; k++) {
        const struct as_catalogue_module *one = got[0][k];
        assert_non_null(one);
        assert_non_null(one->program);
        for (int i = 0; i < THREADS; i++) {
            assert_ptr_equal(got[i][k], one);
            as_catalogue_close(it.catalogue, &got[i][k]);
        }
    }
    assert_int_equal(analysed(), 2);
}

/* ---- Without memory ------------------------------------------------------------------------ */

static int open_and_add(void)
{
    const struct as_catalogue_request request = request_of(it.path);
    const struct as_catalogue_options options = {.jobs = 1};
    struct as_catalogue *catalogue;
    struct as_catalogue_module *module = NULL;
    int64_t id;
    int rc = as_catalogue_new(it.store, &options, &catalogue, &err);
    if (rc == 0)
        rc = as_catalogue_open(catalogue, &request, &module, &err);
    if (rc == 0)
        rc = as_catalogue_row_loop(module, 0, &id, &err);
    if (rc == 0 && !module->program)
        rc = module->trouble.code;
    as_catalogue_close(catalogue, &module);
    as_catalogue_free(&catalogue);
    return rc;
}

static void test_no_memory(void **state)
{
    (void)state;
    int64_t after = 0, failed = 0;
    for (int rc = -1; rc < 0; after += 1 + after / 16) {
        as_alloc_fail_after(after);
        rc = open_and_add();
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        failed += rc < 0;
    }
    assert_true(failed > 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_store, remove_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_passes),       TEST(test_another_process), TEST(test_rollback),
        TEST(test_unsampled_loop),   TEST(test_edges_and_paths), TEST(test_excerpt),
        TEST(test_blocks_at_once),   TEST(test_wrong_build_id),  TEST(test_kept_copy),
        TEST(test_kept_copy_by_row), TEST(test_depth),           TEST(test_room),
        TEST(test_threads),          TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
