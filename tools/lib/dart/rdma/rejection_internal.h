/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of the RDMA CM that end a connect request, in words. */
#ifndef DART_REJECTION_H
#define DART_REJECTION_H

#include <rdma/rdma_cma.h>
#include <stddef.h>

#include <libdart/error.h>

/*
 * Explains a rejection of @request, the @length bytes of private data that began with struct
 * dart_control_request.  The private data of @event are hostile.  Returns the value for
 * dart_endpoint__failure().
 */
int dart_rejection__explain(const struct rdma_cm_event *event, const void *request, size_t length,
			    struct dart_error *error);
/* The same for a host where no agent listens. */
int dart_rejection__explain_absence(struct dart_error *error);
/* The same for an event that tells that nothing answers. */
int dart_rejection__explain_silence(const struct rdma_cm_event *event, struct dart_error *error);

#endif /* DART_REJECTION_H */
