/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of all outputs of the controller as metrics: dart_controller_output_... */
#ifndef CONTROLLER_EXPOSITION_OUTPUTS_H
#define CONTROLLER_EXPOSITION_OUTPUTS_H

#include "tools/controller/metrics/own_metrics.h"
#include "tools/controller/outputs/output_list.h"

/* Adds the families of all outputs in @list.  Returns 0 or -ENOMEM. */
int exposition_outputs__add(struct own_metrics *metrics, struct output_list *list);

#endif /* CONTROLLER_EXPOSITION_OUTPUTS_H */
