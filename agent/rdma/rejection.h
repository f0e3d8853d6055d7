/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts and logs the connect requests that are rejected. */
#ifndef REJECTION_H
#define REJECTION_H

#include "agent/base/counts.h"

/* @code: -errno of the refusal, which @text explains. */
void rejection__note(struct connection_counts *counts, int code,
		     const char *kind, const char *peer, const char *text);

#endif /* REJECTION_H */
