/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that prints tables. */
#ifndef CONTROLLER_SINK_TABLE_H
#define CONTROLLER_SINK_TABLE_H

#include "output.h"
#include "tools/controller/decode/sink.h"

/*
 * @targets exceeds the index of every target. @complete: print every value of one scrape. Otherwise
 * print as much as fits, redrawn in place if @fd, the descriptor of @output, is a terminal. @output
 * outlives the sink. NULL if out of memory.
 */
struct sink *sink_table__new(struct output *output, int fd, size_t targets, bool complete);

#endif /* CONTROLLER_SINK_TABLE_H */
