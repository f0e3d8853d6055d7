/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes targets and tables of hostile records, for the decoder. */
#ifndef CONTROLLER_RECORD_PLAYED_H
#define CONTROLLER_RECORD_PLAYED_H

#include <libdart/error.h>

#include "record.h"
#include "tools/controller/decode/ring.h"

/*
 * Fills in name and labels from @recorded; the caller fills in all other members that it needs.
 * played__clear_settings() frees them.  Returns 0; -EBADMSG with a sentence in @error; or -ENOMEM.
 */
int played__make_settings(const struct recorded_target *recorded, struct target_settings *settings,
			  struct dart_error *error);
void played__clear_settings(struct target_settings *settings);

/*
 * Decodes the table, plans its READs like the recorder, and makes a ring.  Returns 0, or -errno
 * with a sentence in @error: -EBADMSG, also if the planned READs differ from the recorded ones;
 * -EFBIG like scraper__new(); -ENOMEM.
 */
int played__make_ring(const struct recorded_table *recorded, const struct scraper_use *use,
		      struct ring **ring, struct dart_error *error);
/* Estimates the memory of such a ring in bytes. */
uint64_t played__ring_size(const struct recorded_table *recorded);

#endif /* CONTROLLER_RECORD_PLAYED_H */
