// y = a * x + y, and a sum in shared memory: two kernels with different needs.
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] += a * x[i];
}

template <int N> __global__ void __launch_bounds__(N) block_sum(const float *x, float *sum)
{
	__shared__ float part[N];

	part[threadIdx.x] = x[blockIdx.x * N + threadIdx.x];
	__syncthreads();
	for (int half = N / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		sum[blockIdx.x] = part[0];
}
template __global__ void block_sum<256>(const float *, float *);
