/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The migrations of data/experiment/, embedded by tools/gen-schema.py: text number i (from 0)
 * brings a database from user_version i to i + 1.
 */
#ifndef AS_EXPERIMENT_SCHEMA_H
#define AS_EXPERIMENT_SCHEMA_H

extern const char *const as_schema_migrations[];
extern const int as_schema_version; /* number of migrations */

/* "ASSY" in the header of every experiment.db (PRAGMA application_id). */
#define AS_SCHEMA_APPLICATION 0x41535359

#endif
