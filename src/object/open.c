/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing an object: the order of the steps, and the plain accessors.
 */
#include "object/internal.h"
