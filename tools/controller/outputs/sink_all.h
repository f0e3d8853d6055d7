/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that passes all on to several sinks, in their order. */
#ifndef CONTROLLER_SINK_ALL_H
#define CONTROLLER_SINK_ALL_H

#include <stddef.h>

#include "tools/controller/decode/sink.h"

/*
 * Takes the @count sinks at @sinks, which are freed with it, also if it is NULL for want of
 * memory; the array is the caller's.  It owns the terminal, or compares, if any of them does.
 * What they return is the first error, after all of them were called.
 */
struct sink *sink_all__new(struct sink *const *sinks, size_t count);

#endif /* CONTROLLER_SINK_ALL_H */
