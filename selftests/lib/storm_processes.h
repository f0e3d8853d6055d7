/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of a storm with a second process or thread. */
#ifndef DART_TEST_STORM_PROCESSES_H
#define DART_TEST_STORM_PROCESSES_H

struct storm;

void storm__fork(struct storm *storm);
void storm__exec(struct storm *storm);
void storm__close_elsewhere(struct storm *storm);

#endif /* DART_TEST_STORM_PROCESSES_H */
