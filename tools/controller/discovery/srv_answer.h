/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets in the answer of a name server: SRV records, RFC 2782.  Priorities and weights
 * have no meaning here, as all targets are scraped.  Pure code, for bytes of strangers.
 */
#ifndef CONTROLLER_SRV_ANSWER_H
#define CONTROLLER_SRV_ANSWER_H

#include <libdart/error.h>

#include "target_faults.h"
#include "target_list.h"

/*
 * Parses a message of @length bytes.  One without SRV records is refused; one of the root
 * says that there are no targets.  @list is empty before, and the caller's to clear
 * afterwards; @ttl_s is the shortest of its records.  Returns 0; -EINVAL with a sentence in
 * @error; -ENOMEM.
 */
int srv_answer__parse(const void *message, size_t length, const struct target_defaults *defaults,
		      struct shared_text *source, struct target_list *list, uint32_t *ttl_s,
		      struct target_faults *faults, struct dart_error *error);

#endif /* CONTROLLER_SRV_ANSWER_H */
