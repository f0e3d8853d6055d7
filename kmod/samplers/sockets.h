/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_NAMESPACE_SAMPLER_H
#define DART_ZERO_NAMESPACE_SAMPLER_H

int dart_namespace_sampler_init(void);
/* To call when no sampler exists any more. */
void dart_namespace_sampler_exit(void);

#endif /* DART_ZERO_NAMESPACE_SAMPLER_H */
