/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that want to be understood: they name what they do, and `assay profile --regions`
 * says how often and how long each thread did it, `assay trace` when. Link with -lassay. In a run
 * that assay does not observe each call is a load and a branch. Any thread may call at any time but
 * signal handlers. Fortran: module assay (assay.f90).
 */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The calling thread enters and leaves what `name` stands for: 63 bytes of it count, up to 512
 * different names a process. Regions may nest and overlap; one in itself counts again, but its time
 * counts once. An end without a beginning counts as such.
 */
void assay_region_begin(const char *name);
void assay_region_end(const char *name);

/* Something happened, with a value: their number, sum, least and largest are kept. */
void assay_event(const char *name, double value);

/* A value that describes the run, such as a size or a residual. Each thread keeps its latest
 * value. */
void assay_datum(const char *name, double value);

/* From `off` to `on`, no thread keeps samples by timers, counts regions and events, or records a
 * trace. Regions that were begun before may be ended. Processes of a job may switch
 * independently. */
void assay_off(void);
void assay_on(void);

/* Returns 1 if this run is observed, else 0: values that only serve the measurement need not be
 * computed. */
int assay_is_measured(void);

#ifdef __cplusplus
}
#endif

#endif
