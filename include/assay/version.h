/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of the library and of every machine-readable output it writes.
 */
#ifndef ASSAY_VERSION_H
#define ASSAY_VERSION_H

#define ASSAY_VERSION "0.1.0"

/* Version of the JSON documents; raised whenever a field changes meaning or goes away. */
#define ASSAY_JSON_SCHEMA 1

#endif
