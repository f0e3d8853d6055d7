/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_FILESYSTEM_SAMPLER_H
#define DART_ZERO_FILESYSTEM_SAMPLER_H

int dart_filesystem_init(void);
/* Waits for the last work item, which has given back its reference to the module. */
void dart_filesystem_exit(void);

#endif /* DART_ZERO_FILESYSTEM_SAMPLER_H */
