/* SPDX-License-Identifier: Apache-2.0 */
/* Code quality analysis for experts: where cycles come from, every metric, every instruction. */
#include <math.h>
#include <string.h>

#include "cqa.h"

void as_cqa_assembly(const struct as_quality_view *view, uint32_t insn, char *buf, size_t buf_b)
{
    const struct as_insn *at = &view->chosen.program->code.insn[insn];
    uint64_t size_b;
    const uint8_t *bytes = as_object_bytes(view->chosen.object, at->address, &size_b);

    buf[0] = 0;
    if (bytes && size_b >= at->length)
        as_insn_format(bytes, at->length, at->address, AS_SYNTAX_INTEL, buf, buf_b);
}

static void emit_ports(struct as_quality_view *view, const struct as_cqa_path *path)
{
    unsigned shown = 0;

    as_cli_print(view->cli, "\n  ");
    as_cli_styled(view->cli, AS_STYLE_BOLD, "cycles by port");
    for (unsigned i = 0; i < view->uarch->port_n; i++)
        if (path->port_use[i] > 0.005)
            as_cli_print(view->cli, "%s%-5s %6.2f", shown++ % 5 ? "   " : "\n    ",
                         view->uarch->port[i], path->port_use[i]);
    as_cli_print(view->cli, "\n");
}

/* Two metrics a line, those of a topic together. */
static void emit_metrics(struct as_quality_view *view, const struct as_cqa_path *path)
{
    const char *topic = "";
    unsigned in_line = 0;

    for (size_t i = 0; i < as_cqa_metric_count(); i++) {
        const struct as_metric *metric = as_cqa_metric(i);
        const double value = path->value[i];

        if (isnan(value) || value == 0)
            continue;
        if (strcmp(topic, metric->topic) != 0) {
            as_cli_print(view->cli, "%s\n  ", in_line % 2 ? "\n" : "");
            as_cli_styled(view->cli, AS_STYLE_BOLD, metric->topic);
            as_cli_print(view->cli, "\n");
            topic = metric->topic;
            in_line = 0;
        }
        as_cli_print(view->cli, "    %-22.22s %10.4g%s", metric->name, value,
                     in_line++ % 2 ? "\n" : "");
    }
    as_cli_print(view->cli, "%s", in_line % 2 ? "\n" : "");
}

static void emit_insns(struct as_quality_view *view, const struct as_cqa_path *path)
{
    char text[128];

    as_cli_print(view->cli, "\n  ");
    as_cli_styled(view->cli, AS_STYLE_BOLD, "slots latency  own  instruction");
    if (path->number > 1 || path->weight < 1)
        as_cli_print(view->cli, " (path %u)", path->number);
    as_cli_print(view->cli, "\n");
    for (size_t i = 0; i < path->insn_n; i++) {
        const struct as_cqa_insn *it = &path->insn[i];

        as_cqa_assembly(view, it->insn, text, sizeof text);
        as_cli_print(view->cli, "%c ", it->chain ? '>' : ' ');
        if (it->fused)
            as_cli_print(view->cli, "    -       -    -  %s, with the one before\n", text);
        else
            as_cli_print(view->cli, "%5.3g %7.3g %4.2g %c%s%s\n", (double)it->slots,
                         (double)it->latency, (double)it->throughput,
                         it->packed     ? '*'
                         : it->packable ? '-'
                                        : ' ',
                         text,
                         it->estimated    ? " (estimated)"
                         : it->eliminated ? " (eliminated)"
                                          : "");
    }
}

void as_cqa_text_expert(struct as_quality_view *view, const struct as_cqa *cqa)
{
    emit_ports(view, &cqa->mean);
    emit_metrics(view, &cqa->mean);
    for (size_t i = 0; i < cqa->path_n; i++)
        emit_insns(view, &cqa->path[i]);
    as_cli_print(view->cli,
                 "  > longest dependence chain; * vectorised, - vectorisable; own: cycles\n"
                 "  of its busiest ports\n");
}
