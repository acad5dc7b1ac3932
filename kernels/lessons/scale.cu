// An array of floats, each times 2 and divided by 2 again and again: work that leaves its data as
// they were, so that anybody can check it.
//
// Bound: 2 * times multiplications a number, one behind the other; 4 bytes read and 4 written. The
//        book launches 64 threads for a million numbers, so a launch keeps a fraction of one SM
//        busy: the room that streams fill.
// Against the book's: its constants are doubles, so that every step goes up to double and back.
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
