/*
 * The hash that a compressed bundle declares, against what its decoded bytes have: the low
 * 64 bits of their MD5. Nothing but the examination of its objects asks for it.
 */
#ifndef GFS_BUNDLE_HASH_H
#define GFS_BUNDLE_HASH_H

#include "internal.h"

struct gfs_hash_check {
	bool differs;
	struct dec_problem problem; /* if it differs; its message lies below */
	char message[128];
};

/*
 * Decodes and hashes the container once while both are cached. No verdict for a container
 * without a hash, for one that does not decode, and where libcrypto has no MD5 (FIPS mode).
 * 0 or a negative errno.
 */
int gfs_hash_check(struct gfs *fs, uint32_t container, struct gfs_hash_check *check);

#endif
