/* The artifact built into the programs: libsample.so as it is, made by make.sh. */
	.section .rodata
	.globl gfs_sample_bytes
	.type gfs_sample_bytes, %object
	.balign 16
gfs_sample_bytes:
	.incbin "libsample.so"
.Lend:
	.size gfs_sample_bytes, .Lend - gfs_sample_bytes

	.globl gfs_sample_size
	.type gfs_sample_size, %object
	.balign 8
gfs_sample_size:
	.quad .Lend - gfs_sample_bytes
	.size gfs_sample_size, 8

	.section .note.GNU-stack, "", %progbits
