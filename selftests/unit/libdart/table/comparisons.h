/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the comparisons of names, as a measure of work that no other program on the
 * machine changes: strcmp() of a test that includes this file takes precedence over
 * strcmp() of the C library, in all linked parts.
 */
#ifndef COMPARISONS_H
#define COMPARISONS_H

#include <stdint.h>

static uint64_t comparisons;

int strcmp(const char *left, const char *right);

int strcmp(const char *left, const char *right)
{
	comparisons++;
	while (*left && *left == *right) {
		left++;
		right++;
	}
	return (unsigned char)*left - (unsigned char)*right;
}

#endif /* COMPARISONS_H */
