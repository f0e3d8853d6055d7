/* SPDX-License-Identifier: GPL-2.0-only */
/* What --help prints. */
#ifndef USAGE_H
#define USAGE_H

extern const char usage[];

#endif /* USAGE_H */
