/* SPDX-License-Identifier: GPL-2.0-only */
/* Instants as people write them, for queries of the past. */
#ifndef INSTANT_H
#define INSTANT_H

#include <stdint.h>

/* Bytes of a printed instant, with the NUL. */
#define INSTANT_MAX 32

/*
 * Parses "@SECONDS[.FRACTION]" since 1970, "YYYY-MM-DDTHH:MM:SS[.FRACTION]", local time or, with a
 * Z at the end, UTC, or "QUANTITY ago", such as "5min ago", before @now_ns.  Sets ns since 1970;
 * returns 0, or -EINVAL.
 */
int instant__parse(const char *text, uint64_t now_ns, uint64_t *ns);
/* Prints ns since 1970 in UTC, "2026-11-27T18:41:05.123Z". */
void instant__print(uint64_t ns, char text[INSTANT_MAX]);

#endif /* INSTANT_H */
