/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/common.h"

#include "base/error.h"
#include "base/outfile.h"
#include "base/str.h"
#include <assert.h>

int64_t as_exchange_begin_ns(const struct as_trace *trace)
{
    int64_t begin_ns = INT64_MAX;
    as_vec_foreach (&trace->process, process)
        as_vec_foreach (&process->thread, stream) {
            const int64_t ns = as_trace_stream_facts(*stream)->begin_raw_ns;
            begin_ns = ns < begin_ns ? ns : begin_ns;
        }
    return begin_ns == INT64_MAX ? 0 : begin_ns;
}

const char *as_exchange_queue_name(const struct as_trace *trace, size_t n)
{
    as_vec_foreach (&trace->process, process) {
        if (n < process->thread.n) {
            const struct as_trace_stream_facts *f = as_trace_stream_facts(process->thread.at[n]);
            return as_trace_is_queue(f->tid) ? f->name : NULL;
        }
        n -= process->thread.n;
    }
    return NULL;
}

void as_exchange_place_of(const struct as_trace *trace, const struct as_trace_process *process,
                          uint64_t address, bool is_return, struct as_exchange_place *out)
{
    const struct as_trace_code *code = trace->code;
    const struct as_trace_place *place = as_trace_place_of(process, address);
    uint64_t in_file;
    const struct as_trace_module *module = as_trace_module_of(process, address, &in_file);
    *out = (struct as_exchange_place){.code = ""};
    if (module) {
        in_file -= is_return;
        out->code = module->path;
        out->function = code ? code->function(code->context, module, in_file) : NULL;
        if (!out->function)
            out->function = as_path_last(module->path);
        if (!code || !code->line(code->context, module, in_file, &out->file, &out->line))
            out->line = 0;
    } else if (place) {
        out->function = *place->function ? place->function : NULL;
        out->file = place->file;
        out->code = place->code;
        out->line = *place->file ? place->line : 0;
    }
}

static int fill_file(struct as_outfile *file, const struct as_exchange_file *it, void *context,
                     struct as_error *err)
{
    struct as_out out;
    AS_TRY(as_outfile_begin(file, it->path, AS_OUTFILE_REPLACE, err));
    as_out_init_fd(&out, file->fd, it->path);
    int rc = it->put(context, &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    return rc;
}

int as_exchange_write_files(const struct as_exchange_file *it, size_t n, void *context,
                            struct as_error *err)
{
    struct as_outfile file[AS_EXCHANGE_FILES_MAX] = {0};
    int rc = 0;
    assert(n <= AS_EXCHANGE_FILES_MAX);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = fill_file(&file[i], &it[i], context, err);
    for (size_t i = 0; i < n; i++)
        rc = as_outfile_end(&file[i], rc, err);
    return rc;
}
