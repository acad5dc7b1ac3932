// Computes whether z = z * z + c stays small, for every c of a picture: one thread per point.
//
// Bound: 8 operations per iteration, and 256 iterations where the answer is yes; a warp continues
//        until its last point is done.
// Every operation is rounded separately (no fused multiply-add), so that any machine that computes
// in the same order gets the same picture.
//
// Launch: any grid of any block; all the threads share the points.
#include "../life.cuh"

struct Complex { float re, im; };

extern "C" __global__ void mandelbrot(
    const Complex* c, float* graph, int length, int iterations, float bound)
{
    const int threads = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < length; i += threads) {
        const Complex at = c[i];
        Complex z = {0.0f, 0.0f};
        float stays = 1.0f;
        for (int k = 0; k < iterations; k++) {
            const float re = (z.re * z.re - z.im * z.im) + at.re;
            const float im = (2.0f * z.re) * z.im + at.im;
            z = {re, im};
            if (z.re * z.re + z.im * z.im > bound * bound) {
                stays = 0.0f;
                break;
            }
        }
        graph[i] = stays;
    }
}
