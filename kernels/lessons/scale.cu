// Multiplies each float of an array by 2 and divides it by 2, repeatedly: work that leaves the
// data unchanged, so that the result is easy to check.
//
// Bound: 2 * times dependent multiplications per number; 4 bytes read and 4 written. The book
//        launches 64 threads for a million numbers, so a launch uses a fraction of one SM and
//        leaves the rest to other streams.
// Compared with the book: its constants are doubles, so every step converts to double and back.
//
// Launch: any grid of any block; all the threads share the array.
#include "../life.cuh"

extern "C" __global__ void scale(float* array, int length, int times)
{
    const int threads = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < length; i += threads) {
        for (int k = 0; k < times; k++) {
            array[i] *= 2.0f;
            array[i] /= 2.0f;
        }
    }
}
