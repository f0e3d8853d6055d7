/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running outputs, for threads that report on them: the control loop, which serves the control
 * socket, and the HTTP server. An output leaves the list before it is freed.
 */
#ifndef CONTROLLER_OUTPUT_LIST_H
#define CONTROLLER_OUTPUT_LIST_H

#include "output_figures.h"

/*
 * Fills in the figures of the output @data, which are zeroed before. Called in any thread, with the
 * list locked: it must not wait.
 */
typedef void output_list_fill(void *data, struct output_figures *figures);

struct output_list_item {
	output_list_fill *fill;
	void *data;
};

struct output_list {
	pthread_mutex_t lock;
	struct output_list_item *items; /* in the order of output_list__add() */
	size_t count;
};

void output_list__open(struct output_list *list);
/* Call when the list is empty, or no other thread can read it any more. */
void output_list__close(struct output_list *list);

/* Returns 0 or -ENOMEM. */
int output_list__add(struct output_list *list, output_list_fill *fill, void *data);
/*
 * After the return, fill() of @data neither runs nor is called again. Ignores @data that is not
 * listed.
 */
void output_list__remove(struct output_list *list, const void *data);

/* Copies the figures of all outputs into an array for output_list__free(). Returns 0 or -ENOMEM. */
int output_list__read(struct output_list *list, struct output_figures **figures, size_t *count);
void output_list__free(struct output_figures *figures, size_t count);

#endif /* CONTROLLER_OUTPUT_LIST_H */
