/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/common.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/outfile.h"

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

const char *as_exchange_function(const struct as_trace *trace,
                                 const struct as_trace_process *process,
                                 const struct as_trace_event *sample, size_t i)
{
    uint64_t in_file;
    const struct as_trace_module *module = as_trace_module_of(process, sample->list[i], &in_file);
    if (!module)
        return "?";
    /* Of callers it is the place to return to that is known: the call stands before. */
    const char *name =
        trace->code ? trace->code->function(trace->code->context, module, in_file - (i > 0)) : NULL;
    const char *slash = strrchr(module->path, '/');
    return name ? name : slash ? slash + 1 : module->path;
}

bool as_exchange_line(const struct as_trace *trace, const struct as_trace_process *process,
                      const struct as_trace_event *sample, size_t i, const char **file,
                      uint32_t *line)
{
    uint64_t in_file;
    const struct as_trace_module *module = as_trace_module_of(process, sample->list[i], &in_file);
    return module && trace->code &&
           trace->code->line(trace->code->context, module, in_file - (i > 0), file, line);
}

static int fill_file(struct as_outfile *file, const struct as_exchange_file *it, void *context,
                     struct assay_error *err)
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
                            struct assay_error *err)
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
