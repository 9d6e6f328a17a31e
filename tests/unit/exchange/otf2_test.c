/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many communicators and many open requests in an OTF2 archive: each send names its communicator,
 * and each that is complete was begun. Read by the library of its makers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <otf2/otf2.h>

#include "directory.h"
#include "exchange/otf2.h"
#include "trace/read.h"
#include "trace/write.h"

enum { COMMS_N = 3000, SENDS_N = 20000, ISEND = 1 };

static struct as_trace_writer writer;

static void open_made(const char *name, uint32_t tid)
{
    const struct as_trace_writing how = {
        .path = path_of(name), .pid = 5, .tid = tid, .clock = AS_TRACE_GIVEN, .name = "node"};
    assert_int_equal(as_trace_writer_open(&writer, &how), 0);
}

/* Send i is of communicator i modulo their number; done are they in the order of `i * 7`. */
static void write_sends(void)
{
    const uint64_t members[] = {0, 1};
    open_made("t/stream.5.1.0", 0);
    as_trace_emit_text(&writer, AS_TRACE_NAME, 0, (uint64_t[]){ISEND, AS_TRACE_OF_MPI_POINT}, 2,
                       "MPI_Isend");
    as_trace_emit(&writer, AS_TRACE_WORLD, 0, (uint64_t[]){0, 2, 0}, 3);
    for (uint64_t c = 1; c <= COMMS_N; c++)
        as_trace_emit_list(&writer, AS_TRACE_COMM, 0, (uint64_t[]){c, 1000 + c, 2, 0, 0}, 5,
                           members, 2);
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
    open_made("t/stream.5.1.5", 5);
    for (uint64_t i = 0; i < SENDS_N; i++)
        as_trace_emit(&writer, AS_TRACE_SEND, 10 + i,
                      (uint64_t[]){2 * 1, 2 * 3, 8, i % COMMS_N + 1, i + 1, 0}, 6);
    for (uint64_t i = 0; i < SENDS_N; i++)
        as_trace_emit(&writer, AS_TRACE_DONE, 10 + SENDS_N + i, (uint64_t[]){i * 7 % SENDS_N + 1},
                      1);
    as_trace_emit(&writer, AS_TRACE_DONE, 10 + 2 * SENDS_N, (uint64_t[]){1}, 1); /* once more */
    as_trace_writer_close(&writer, AS_TRACE_CLOSED);
}

static uint64_t sends_n, done_n;

static OTF2_CallbackCode see_send(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *list, uint32_t receiver,
                                  OTF2_CommRef communicator, uint32_t tag, uint64_t size_b,
                                  uint64_t request)
{
    (void)location, (void)time, (void)position, (void)user, (void)list, (void)size_b;
    assert_int_equal(receiver, 1);
    assert_int_equal(tag, 3);
    assert_int_equal(communicator, sends_n % COMMS_N);
    assert_int_equal(request, ++sends_n);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode see_done(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                                  void *user, OTF2_AttributeList *list, uint64_t request)
{
    (void)location, (void)time, (void)position, (void)user, (void)list;
    assert_int_equal(request, done_n++ * 7 % SENDS_N + 1);
    return OTF2_CALLBACK_SUCCESS;
}

static void read_archive(const char *path)
{
    uint64_t n;
    OTF2_Reader *reader = OTF2_Reader_Open(path);
    assert_non_null(reader);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_Reader_SelectLocation(reader, 0);
    OTF2_Reader_OpenEvtFiles(reader);
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_DefReader *names = OTF2_Reader_GetDefReader(reader, 0);
    assert_non_null(names);
    OTF2_Reader_ReadAllLocalDefinitions(reader, names, &n);
    OTF2_Reader_CloseDefReader(reader, names);
    OTF2_Reader_CloseDefFiles(reader);
    OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(reader, 0);
    OTF2_EvtReaderCallbacks *callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, see_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, see_done);
    OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, NULL);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    assert_int_equal(OTF2_Reader_ReadAllLocalEvents(reader, events, &n), OTF2_SUCCESS);
    OTF2_Reader_CloseEvtReader(reader, events);
    OTF2_Reader_CloseEvtFiles(reader);
    OTF2_Reader_Close(reader);
}

static void test_many(void **state)
{
    struct as_error err;
    struct as_trace trace;
    struct as_otf2_counts counts;
    (void)state;
    assert_int_equal(mkdir(path_of("t"), 0777), 0);
    write_sends();
    assert_int_equal(as_trace_open(path_of("t"), &trace, &err), 0);
    assert_int_equal(as_otf2_write(&trace, path_of("x.otf2"), &counts, &err), 0);
    as_trace_close(&trace);
    read_archive(path_of("x.otf2/traces.otf2"));
    assert_int_equal(sends_n, SENDS_N);
    assert_int_equal(done_n, SENDS_N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many)};
    return cmocka_run_group_tests_name("exchange/otf2", tests, make_place, remove_place);
}
