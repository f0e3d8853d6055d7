/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that prints a line of CSV (RFC 4180) for each value. */
#ifndef CONTROLLER_SINK_CSV_H
#define CONTROLLER_SINK_CSV_H

#include "tools/controller/decode/sink.h"
#include "tools/controller/outputs/output.h"

/*
 * Makes a sink that first writes a line of titles to @output, which outlives it.  NULL if out of
 * memory.
 */
struct sink *sink_csv__new(struct output *output);

#endif /* CONTROLLER_SINK_CSV_H */
