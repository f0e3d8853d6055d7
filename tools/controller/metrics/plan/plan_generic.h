/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds series of the fields that no family names: dart_SOURCE_FIELD_unit[_total], with labels that
 * identify the entry and its row; texts and addresses become labels of dart_SOURCE_info.
 */
#ifndef CONTROLLER_PLAN_GENERIC_H
#define CONTROLLER_PLAN_GENERIC_H

#include "plan_entry.h"

void plan_generic__add(struct plan_entry *entry, struct plan_builder *builder);

#endif /* CONTROLLER_PLAN_GENERIC_H */
