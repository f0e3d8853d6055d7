/* SPDX-License-Identifier: GPL-2.0-only */
/* Renews queue pairs of requesters or adders that went into the error state. */
#ifndef RENEWALS_H
#define RENEWALS_H

#include <libdart/registration/client.h>

/*
 * Renews the queue pairs in the error state, which are dead until then, of the object called @name.
 * @object is its kind, such as "table", and @part that of its peers, such as "requester".  Tries
 * all of them, because one peer may not answer.  Returns 0, or the first failure, -errno with a
 * sentence in @error.
 */
int renewals__make(struct dart_registration_client *client, const char *object, const char *part,
		   const char *name, struct dart_error *error);

#endif /* RENEWALS_H */
