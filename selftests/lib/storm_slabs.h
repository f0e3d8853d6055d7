/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations of a storm on slabs and slices. */
#ifndef DART_TEST_STORM_SLABS_H
#define DART_TEST_STORM_SLABS_H

struct storm;

void storm__add_slab(struct storm *storm);
void storm__remove_slab(struct storm *storm);
void storm__register_slab(struct storm *storm);
void storm__lend(struct storm *storm);
void storm__write(struct storm *storm);
void storm__slice_owner(struct storm *storm);
void storm__remove_slice(struct storm *storm);
void storm__adopt(struct storm *storm);
void storm__slice_events(struct storm *storm);
void storm__close_lender(struct storm *storm);

#endif /* DART_TEST_STORM_SLABS_H */
