/* SPDX-License-Identifier: GPL-2.0-only */
/* The epochs of the stores, for callers on other hosts: bytes of memory and of files. */
#ifndef SERVED_EPOCHS_H
#define SERVED_EPOCHS_H

#include "agent/base/epoch_service.h"
#include "store.h"

/* @stores and @readers outlive the service. */
struct epoch_service served_epochs__service(struct stores *stores,
					    const struct dart_prefixes *readers);

#endif /* SERVED_EPOCHS_H */
