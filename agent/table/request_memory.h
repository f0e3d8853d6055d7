/* SPDX-License-Identifier: GPL-2.0-only */
/* The requests for memory of the region: slices and counters. */
#ifndef REQUEST_MEMORY_H
#define REQUEST_MEMORY_H

#include "agent/base/request.h"

request_handler request__new_slice;
request_handler request__register_counters;

#endif /* REQUEST_MEMORY_H */
