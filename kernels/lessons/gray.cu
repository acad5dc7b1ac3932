// Converts a colour picture to gray, four pixels per thread: bytes in, bytes out, little work.
//
// Bound: 5 bytes per pixel, so device memory, and well before that the bus.
// Four pixels per thread: their four gray bytes are stored as one word.
//
// Launch: any grid of any block; all the threads share the pixels, a multiple of 4.
#include "../life.cuh"

// (77 red + 150 green + 29 blue) / 256, red in the lowest byte.
DEVICE u32 gray_of(u32 pixel)
{
    const u32 red = pixel & 255, green = pixel >> 8 & 255, blue = pixel >> 16 & 255;
    return (77 * red + 150 * green + 29 * blue) >> 8;
}

extern "C" __global__ void gray(const u32* in, u32* out, int pixels)
{
    const int threads = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < pixels / 4; i += threads) {
        const u32* four = in + 4 * (size_t)i;
        out[i] = gray_of(four[0]) | gray_of(four[1]) << 8 | gray_of(four[2]) << 16
               | gray_of(four[3]) << 24;
    }
}
