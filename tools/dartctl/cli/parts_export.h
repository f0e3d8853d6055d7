/* SPDX-License-Identifier: GPL-2.0-only */
/* The command that exports an object with peers: "journal export", "ledger export", "sketch export". */
#ifndef PARTS_EXPORT_H
#define PARTS_EXPORT_H

#include "export_watch.h"

/*
 * Prints a file {"dart_MEMBER": 1, "MEMBER": [...]} of the object that the command line names, or
 * writes it, or keeps it up to date.  The option of the name @kind->part chooses the peer with this
 * address; without it the file has all peers.  Returns an exit status, with its message printed.
 */
int parts_export__run(struct options *options, int argc, char **argv,
		      const struct export_kind *kind);

#endif /* PARTS_EXPORT_H */
