/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses targets from the answer of a name server, SRV records of RFC 2782.  It ignores priorities
 * and weights, because all targets are scraped.  Pure code that parses hostile bytes.
 */
#ifndef CONTROLLER_SRV_ANSWER_H
#define CONTROLLER_SRV_ANSWER_H

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

/*
 * Parses a message of @length bytes into @list, which is empty before, and which the caller clears
 * afterwards.  Sets @ttl_s to the shortest time to live of all records.  Adds targets that cannot
 * be used to @faults instead.  A message without SRV records is refused; an SRV record of the root
 * says that there are no targets.  Returns 0; -EINVAL with a sentence in @error; -ENOMEM.
 */
int srv_answer__parse(const void *message, size_t length, const struct target_defaults *defaults,
		      struct shared_text *source, struct target_list *list, uint32_t *ttl_s,
		      struct target_faults *faults, struct dart_error *error);

#endif /* CONTROLLER_SRV_ANSWER_H */
