/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The outputs that run, for threads that report on them: the control socket in the control loop,
 * and the HTTP server.  An output leaves the list before it is freed.
 */
#ifndef CONTROLLER_OUTPUT_LIST_H
#define CONTROLLER_OUTPUT_LIST_H

#include "output_figures.h"

/*
 * Fills in the figures of the output @data, which are all zeros before.  In any thread, while the
 * list is locked: it waits for nothing.
 */
typedef void output_list_fill(void *data, struct output_figures *figures);

struct output_list_item {
	output_list_fill *fill;
	void *data;
};

struct output_list {
	pthread_mutex_t lock;
	struct output_list_item *items; /* in the order in which they were added */
	size_t count;
};

void output_list__open(struct output_list *list);
/* No output is in it any more, or none that a thread could ask for. */
void output_list__close(struct output_list *list);

/* Returns 0 or -ENOMEM. */
int output_list__add(struct output_list *list, output_list_fill *fill, void *data);
/* fill() of @data is neither running nor called afterwards.  Nothing happens if it is not there. */
void output_list__remove(struct output_list *list, const void *data);

/*
 * The figures of all outputs, into an array that output_list__free() frees.  Returns 0 or -ENOMEM.
 */
int output_list__read(struct output_list *list, struct output_figures **figures, size_t *count);
void output_list__free(struct output_figures *figures, size_t count);

#endif /* CONTROLLER_OUTPUT_LIST_H */
