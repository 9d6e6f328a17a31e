/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/common.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

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

int as_exchange_write_file(const char *path, as_exchange_put *put, void *context,
                           struct assay_error *err)
{
    struct as_out out;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    as_out_init_fd(&out, fd, path);
    int rc = put(context, &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    if (close(fd) != 0 && rc == 0)
        rc = as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (rc < 0)
        unlink(path);
    return rc;
}
