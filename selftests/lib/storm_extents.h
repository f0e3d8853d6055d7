/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of a storm on maps, windows and memory registrations. */
#ifndef DART_TEST_STORM_EXTENTS_H
#define DART_TEST_STORM_EXTENTS_H

struct storm;

void storm__add_map(struct storm *storm);
void storm__add_window(struct storm *storm);
void storm__remove_window(struct storm *storm);
void storm__remove_map(struct storm *storm);
void storm__owner(struct storm *storm);
void storm__register(struct storm *storm);
void storm__register_some(struct storm *storm);
void storm__read(struct storm *storm);

#endif /* DART_TEST_STORM_EXTENTS_H */
