/* SPDX-License-Identifier: Apache-2.0 */
/* State of the patcher, which its files share. It refers to nothing. */
#include "agent/patcher/patcher.h"

struct as_patcher as_patcher;
