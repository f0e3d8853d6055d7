/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that passes every call on to several sinks, in order. */
#ifndef CONTROLLER_SINK_ALL_H
#define CONTROLLER_SINK_ALL_H

#include <stddef.h>

#include "tools/controller/decode/sink.h"

/*
 * Takes ownership of the @count sinks at @sinks, and frees them with the new sink, or at once if it
 * returns NULL because memory ran out; the array stays the caller's. The new sink owns the
 * terminal, or compares, if any of the sinks does. Its calls return the first error, after calling
 * all sinks.
 */
struct sink *sink_all__new(struct sink *const *sinks, size_t count);

#endif /* CONTROLLER_SINK_ALL_H */
