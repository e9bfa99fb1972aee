"""Steps of low-pass and notch filters on vectors, each number separately. Operations are the same as on one number."""

from strapdown.kernels.jit import live


@live
def low_pass(x, before, share, out):
    """First order: the output moves by this share of the distance from its last value to the input."""
    for i in range(len(out)):
        out[i] = before[i] + share * (x[i] - before[i])
    return True


@live
def second_order(x, first, second, b0, b1, b2, a1, a2, out, first_after, second_after):
    """Second order, transposed direct form II, a0 = 1."""
    for i in range(len(out)):
        out[i] = b0 * x[i] + first[i]
        first_after[i] = b1 * x[i] - a1 * out[i] + second[i]
        second_after[i] = b2 * x[i] - a2 * out[i]
    return True
