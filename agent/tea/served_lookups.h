/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of lookup tables, for callers that change them over the network. */
#ifndef SERVED_LOOKUPS_H
#define SERVED_LOOKUPS_H

#include "agent/base/lookup_service.h"
#include "lookup_tables.h"

/* @tables outlives the service. */
struct lookup_service served_lookups__service(struct lookup_tables *tables);

#endif /* SERVED_LOOKUPS_H */
