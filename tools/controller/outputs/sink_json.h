/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that prints one JSON object per line. */
#ifndef CONTROLLER_SINK_JSON_H
#define CONTROLLER_SINK_JSON_H

#include "output.h"
#include "tools/controller/decode/sink.h"

/* @output outlives the sink.  NULL if out of memory. */
struct sink *sink_json__new(struct output *output);

#endif /* CONTROLLER_SINK_JSON_H */
