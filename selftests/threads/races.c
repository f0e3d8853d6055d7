// SPDX-License-Identifier: GPL-2.0-only
/*
 * races plain|passed|counted|dropped: two threads that write one number.  "plain" is a race, which
 * helgrind must report; "passed" hands the number over by the release and acquire of an atomic
 * flag, in "counted" the number is atomic, and in "dropped" it belongs to the thread that drops the
 * last of two references: helgrind must report none of these three.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long number;
static atomic_long counted;
static atomic_bool is_passed;
static atomic_uint references = 2;

static void *write_plain(void *data)
{
	number++;
	return NULL;
}

static void *write_passed(void *data)
{
	while (!atomic_load(&is_passed))
		;
	number++;
	return NULL;
}

static void *write_counted(void *data)
{
	atomic_fetch_add(&counted, 1);
	return NULL;
}

/* Adds to the number when the other thread, which added before, has dropped its reference. */
static void *write_last(void *data)
{
	while (atomic_load_explicit(&references, memory_order_relaxed) != 1)
		;
	if (atomic_fetch_sub_explicit(&references, 1, memory_order_acq_rel) == 1)
		number++;
	return NULL;
}

int main(int argc, char *argv[])
{
	const char *kind = argc == 2 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(kind, "plain")) {
		pthread_create(&thread, NULL, write_plain, NULL);
		number++;
	} else if (!strcmp(kind, "passed")) {
		pthread_create(&thread, NULL, write_passed, NULL);
		number++;
		atomic_store(&is_passed, true);
	} else if (!strcmp(kind, "counted")) {
		pthread_create(&thread, NULL, write_counted, NULL);
		atomic_fetch_add(&counted, 1);
	} else if (!strcmp(kind, "dropped")) {
		pthread_create(&thread, NULL, write_last, NULL);
		number++;
		atomic_fetch_sub_explicit(&references, 1, memory_order_acq_rel);
	} else {
		fprintf(stderr, "usage: races plain|passed|counted|dropped\n");
		return 2;
	}
	pthread_join(thread, NULL);
	return number + atomic_load(&counted) == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
