/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that go on after the call that began them, by process and number. Numbers are never
 * given again: those that are done are forgotten, so that the table is as small as what is open.
 */
#ifndef AS_ANALYTICS_REQUESTS_H
#define AS_ANALYTICS_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

struct as_request;

/* All zero is empty. */
struct as_requests {
    struct as_request *at; /* a power of two of places, or none */
    size_t place_n, n;
};

void as_requests_fini(struct as_requests *requests);
/* NULL: there is none. Valid until the next one is put or dropped. */
struct as_request *as_requests_find(const struct as_requests *requests, uint32_t process,
                                    int64_t number);
/* In place of one of this number, if there is one. 0 or ASSAY_ERR_NOMEM. */
int as_requests_put(struct as_requests *requests, const struct as_request *request);
void as_requests_drop(struct as_requests *requests, struct as_request *request);

#endif
