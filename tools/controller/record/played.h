/* SPDX-License-Identifier: GPL-2.0-only */
/* Targets and tables made of hostile records, for the decoder. */
#ifndef CONTROLLER_RECORD_PLAYED_H
#define CONTROLLER_RECORD_PLAYED_H

#include <libdart/error.h>

#include "record.h"
#include "tools/controller/decode/ring.h"

/*
 * The name and the labels of @recorded; what else is needed the caller fills in.
 * target_settings__clear() frees them.  Returns 0; -EBADMSG with a sentence; or -ENOMEM.
 */
int played__make_settings(const struct recorded_target *recorded, struct target_settings *settings,
			  struct dart_error *error);
void played__clear_settings(struct target_settings *settings);

/*
 * Decodes the table, plans its READs as the recorder did, and makes a ring.  Returns 0;
 * -EBADMSG, also if the READs are not those that were recorded; -EFBIG, as scraper__new(); or
 * -ENOMEM; with a sentence in @error.
 */
int played__make_ring(const struct recorded_table *recorded, const struct scraper_use *use,
		      struct ring **ring, struct dart_error *error);
/* About what such a ring takes, in bytes. */
uint64_t played__ring_size(const struct recorded_table *recorded);

#endif /* CONTROLLER_RECORD_PLAYED_H */
