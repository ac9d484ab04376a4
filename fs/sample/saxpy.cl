/* The same two kernels for AMD GPUs, without the device library. */
#define LOCAL_ID ((int)__builtin_amdgcn_workitem_id_x())
#define GROUP_ID ((int)__builtin_amdgcn_workgroup_id_x())
#define BARRIER __builtin_amdgcn_s_barrier()

kernel void saxpy(int n, float a, global const float *x, global float *y)
{
	int i = GROUP_ID * 256 + LOCAL_ID;

	if (i < n)
		y[i] += a * x[i];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
block_sum(global const float *x, global float *sum)
{
	local float part[256];
	int t = LOCAL_ID;

	part[t] = x[GROUP_ID * 256 + t];
	BARRIER;
	for (int half_size = 128; half_size > 0; half_size /= 2) {
		if (t < half_size)
			part[t] += part[t + half_size];
		BARRIER;
	}
	if (t == 0)
		sum[GROUP_ID] = part[0];
}
