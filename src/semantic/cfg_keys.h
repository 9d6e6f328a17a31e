/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of .cfg files as rows: how each is read and written. */
#ifndef AS_SEMANTIC_CFG_KEYS_H
#define AS_SEMANTIC_CFG_KEYS_H

#include "semantic/window.h"

enum as_cfg_owner { AS_CFG_OF_WINDOW, AS_CFG_OF_TABLE };

/* The owner of a line, and the reason why it cannot be read. */
struct as_cfg_place {
    struct as_window *window;   /* of AS_CFG_OF_WINDOW */
    struct as_histogram *table; /* of AS_CFG_OF_TABLE */
    uint32_t slot;              /* read: set by keys with several lines */
    bool is_dropped;            /* read: the line means nothing at all */
    bool is_kept;               /* read: the line means nothing here and stays as it is */
    int code;                   /* of a failure */
    struct as_str why;
};

struct as_cfg_key {
    const char *name; /* with its colon */
    enum as_cfg_owner owner;
    /* 0, or place->code with place->why */
    int (*read)(struct as_cfg_place *place, struct as_view value);
    void (*write)(const struct as_cfg_place *place, struct as_str *out);
};

extern const struct as_cfg_key as_cfg_keys[];
extern const size_t as_cfg_keys_n;

/* ---- cfg_words.c ---- */

/* True if it is this word, in either case. */
bool as_cfg_same_word(struct as_view value, const char *word);
/* The next word of `*rest`, as blanks, commas and braces separate them; false: there is none. */
bool as_cfg_word(struct as_view *rest, struct as_view *word);
/* 0, or CORRUPT with a sentence. */
int as_cfg_refuse(struct as_cfg_place *place, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int as_cfg_number(struct as_cfg_place *place, struct as_view *rest, struct as_quantity *out);
int as_cfg_whole(struct as_cfg_place *place, struct as_view *rest, int64_t *out);
int as_cfg_truth(struct as_cfg_place *place, struct as_view value, bool *out);
int as_cfg_text(struct as_cfg_place *place, struct as_view value, char **out);
void as_cfg_write_number(struct as_str *out, struct as_quantity number);

/* ---- cfg_functions.c: the functions of a window, their parameters, its filters ---- */
int as_cfg_read_selected(struct as_cfg_place *place, struct as_view value);
void as_cfg_write_selected(const struct as_cfg_place *place, struct as_str *out);
int as_cfg_read_composed(struct as_cfg_place *place, struct as_view value);
void as_cfg_write_composed(const struct as_cfg_place *place, struct as_str *out);
int as_cfg_read_parameters(struct as_cfg_place *place, struct as_view value);
/* False for those of records in a derived window: its list of functions does not name them. */
bool as_cfg_has_parameters(const struct as_cfg_place *place);
void as_cfg_write_parameters(const struct as_cfg_place *place, struct as_str *out);
int as_cfg_read_filter(struct as_cfg_place *place, struct as_view value);
void as_cfg_write_filter(const struct as_cfg_place *place, struct as_str *out);

#endif
