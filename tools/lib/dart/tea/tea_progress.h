/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the caller of a function that takes long for a large lookup table, a second for some
 * 2^20 rows, learns that it goes on.
 */
#ifndef DART_TEA_PROGRESS_H
#define DART_TEA_PROGRESS_H

struct dart_tea_progress {
	void (*made)(void *context);	/* called after each 4096 rows or less */
	void *context;
};

#endif /* DART_TEA_PROGRESS_H */
