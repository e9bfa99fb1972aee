"""Slow random processes: bias instability as a sum of Gauss-Markov processes, random walk, and MATLAB's filter.

Each continues from its memory, block by block; all numbers for a block have been drawn in advance (supplied).
"""

import math

from strapdown.kernels.jit import internal_uncounted
from strapdown.kernels.sensors import chain_memory as m
from strapdown.kernels.sensors import chain_settings as s

# A reading is the mean of the walk over its sample: of the walk's step in a sample it holds the first part, and the
# next reading the rest. The differences of such means have the variance 2/3 and the covariance 1/6 of a step's, so
# early^2 + late^2 = 2/3 and early late = 1/6; the Allan deviation is then K sqrt(tau / 3) from one sample on.
BLOCK = 256  # samples; 2 kB for each axis and quantity
WIDTH = BLOCK + 8  # numbers of a row of a block's work: rows do not begin at the same place of the nearest cache
DRIFT = 12 * WIDTH  # where the sum of these processes stands in it, a row for each axis
EARLY, LATE = 0.5 + 0.5 / math.sqrt(3.0), 0.5 - 0.5 / math.sqrt(3.0)


@internal_uncounted
def acts(settings, at):
    """Whether a vector of the settings is not zero."""
    return settings[at] != 0.0 or settings[at + 1] != 0.0 or settings[at + 2] != 0.0


@internal_uncounted
def strides_at(settings):
    """Place in the settings where the processes of the instability begin."""
    return s.PARTS + 3 * int(settings[s.BIAS_POWERS]) + 3 * int(settings[s.SCALE_POWERS])


@internal_uncounted
def instability_supplied(n, settings, memory, available):
    """Number of the next n samples whose random numbers have been drawn."""
    processes, at = int(settings[s.PROCESSES]), strides_at(settings)
    node, within, j = int(memory[m.NODE]), int(memory[m.WITHIN]), int(memory[m.J])
    if memory[m.DRIFT_STARTED] == 0.0:
        node, within, j = int(settings[s.NODE]), 0, 0
        available -= 3 * processes
        if node > 1:  # the first node comes before the first step
            available -= 3 * processes
            j = 1
    fastest = max(int(settings[at]) // node, 1)
    period = node if node > 1 else fastest  # samples from step to step
    k = 0
    while k < n:
        if within == 0:
            for p in range(processes):
                if j & (int(settings[at + p]) // node - 1) == 0:
                    available -= 3
            if available < 0:
                return k
            j += 1 if node > 1 else fastest
        passed = min(period - within, n - k)
        k += passed
        within = (within + passed) % period
    return n


@internal_uncounted
def _node(j, settings, memory, ahead, width):
    """VALUE and SLOPE at node j, a step of the fastest process; its strides are counted in nodes.

    Process p has the standard deviation sigma[p] * instability[axis]. It is stepped exactly every strides[p] nodes
    (powers of two, rising), with the factor keep[p] per step, and is linear in between.
    """
    processes, at = int(settings[s.PROCESSES]), strides_at(settings)
    drawn = m.INSTABILITY * width
    node, used = int(memory[m.NODE]), int(memory[m.POSITION + m.INSTABILITY]) + drawn
    keep, fresh = at + processes, at + 3 * processes
    if processes > 1 and j & (int(settings[at + 1]) // node - 1) == 0:  # no other steps between two steps of the second
        memory[m.SINCE] = j
        for c in range(3):
            memory[m.BASE + c] = memory[m.RISE + c] = 0.0
        for p in range(1, processes):
            stride = int(settings[at + p]) // node
            left = stride - (j & (stride - 1))  # nodes to its next step
            for c in range(3):
                value, slope = m.PARTS + 3 * p + c, m.PARTS + 3 * (processes + p) + c
                if left == stride:
                    sigma = settings[fresh + p] * settings[s.INSTABILITY + c]
                    after = settings[keep + p] * memory[value] + sigma * ahead[used]
                    used += 1
                    memory[slope] = (after - memory[value]) / stride
                    memory[value] = after
                memory[m.BASE + c] += memory[value] - left * memory[slope]
                memory[m.RISE + c] += memory[slope]
    per_stride = 1.0 / (int(settings[at]) // node)
    for c in range(3):
        rise, value = memory[m.RISE + c], memory[m.FASTEST + c]
        memory[m.VALUE + c] = memory[m.BASE + c] + (j - memory[m.SINCE]) * rise + value
        after = settings[keep] * value + settings[fresh] * settings[s.INSTABILITY + c] * ahead[used]
        used += 1
        memory[m.SLOPE + c] = rise + (after - value) * per_stride
        memory[m.FASTEST + c] = after
    memory[m.POSITION + m.INSTABILITY] = used - drawn


@internal_uncounted
def _start_instability(settings, memory, ahead, width):
    """Stationary."""
    processes, sigma = int(settings[s.PROCESSES]), strides_at(settings) + 2 * int(settings[s.PROCESSES])
    used = int(memory[m.POSITION + m.INSTABILITY]) + m.INSTABILITY * width
    for p in range(processes):
        for c in range(3):
            value = settings[sigma + p] * settings[s.INSTABILITY + c] * ahead[used]
            used += 1
            memory[m.PARTS + 3 * p + c] = value
            memory[m.PARTS + 3 * (processes + p) + c] = 0.0
            if p == 0:
                memory[m.FASTEST + c] = value
    for c in range(3):
        memory[m.BASE + c] = memory[m.RISE + c] = 0.0
    memory[m.POSITION + m.INSTABILITY] = used - m.INSTABILITY * width
    memory[m.DRIFT_STARTED], memory[m.NODE] = 1.0, settings[s.NODE]
    memory[m.WITHIN] = memory[m.J] = memory[m.SINCE] = 0.0
    if settings[s.NODE] > 1.0:
        _node(int(memory[m.J]), settings, memory, ahead, width)  # a constant would be compiled apart
        memory[m.J] = 1.0


@internal_uncounted
def instability_block(n, settings, memory, ahead, width, work):
    """The next n samples: linear between nodes, NODE samples apart, or between steps of the fastest process."""
    if memory[m.DRIFT_STARTED] == 0.0:
        _start_instability(settings, memory, ahead, width)
    node = int(memory[m.NODE])
    fastest = int(settings[strides_at(settings)]) // node
    period, per_node = node if node > 1 else fastest, 1.0 / node
    x, y, z = memory[m.VALUE], memory[m.VALUE + 1], memory[m.VALUE + 2]
    dx, dy, dz = memory[m.SLOPE], memory[m.SLOPE + 1], memory[m.SLOPE + 2]
    within, k = int(memory[m.WITHIN]), 0
    while k < n:
        if within == 0 and node > 1:
            x, y, z = memory[m.VALUE], memory[m.VALUE + 1], memory[m.VALUE + 2]  # of the node before
            _node(int(memory[m.J]), settings, memory, ahead, width)
            memory[m.J] += 1.0
            dx, dy, dz = memory[m.VALUE] - x, memory[m.VALUE + 1] - y, memory[m.VALUE + 2] - z
        elif within == 0:
            _node(int(memory[m.J]), settings, memory, ahead, width)
            memory[m.J] += fastest
            x, y, z = memory[m.VALUE], memory[m.VALUE + 1], memory[m.VALUE + 2]
            dx, dy, dz = memory[m.SLOPE], memory[m.SLOPE + 1], memory[m.SLOPE + 2]
        elif node > 1:
            x, y, z = memory[m.SLOPE], memory[m.SLOPE + 1], memory[m.SLOPE + 2]
            dx, dy, dz = memory[m.VALUE] - x, memory[m.VALUE + 1] - y, memory[m.VALUE + 2] - z
        passed = min(period - within, n - k)
        for i in range(passed):
            part = (within + i) * per_node
            at = DRIFT + k + i
            work[at], work[at + WIDTH], work[at + 2 * WIDTH] = x + part * dx, y + part * dy, z + part * dz
        k += passed
        within = (within + passed) % period
        if node > 1:
            memory[m.SLOPE], memory[m.SLOPE + 1], memory[m.SLOPE + 2] = x, y, z  # kept for a block that begins between
    memory[m.WITHIN] = within


@internal_uncounted
def walk_block(n, settings, memory, ahead, width, work):
    """Add the random walk: it starts at zero with the standard deviation WALK per sample."""
    used = int(memory[m.POSITION + m.WALK]) + m.WALK * width
    wx, wy, wz = settings[s.WALK], settings[s.WALK + 1], settings[s.WALK + 2]
    if memory[m.WALK_STARTED] == 0.0:
        memory[m.WALK_STARTED] = 1.0
        for c in range(3):
            memory[m.WALK_STEP + c] = ahead[used + c]
        used += 3
    x, y, z = memory[m.WALK_AT], memory[m.WALK_AT + 1], memory[m.WALK_AT + 2]
    ax, ay, az = memory[m.WALK_STEP], memory[m.WALK_STEP + 1], memory[m.WALK_STEP + 2]
    for k in range(n):
        work[DRIFT + k] += wx * x
        work[DRIFT + WIDTH + k] += wy * y
        work[DRIFT + 2 * WIDTH + k] += wz * z
        bx, by, bz = ahead[used], ahead[used + 1], ahead[used + 2]
        used += 3
        x, y, z = x + (LATE * ax + EARLY * bx), y + (LATE * ay + EARLY * by), z + (LATE * az + EARLY * bz)
        ax, ay, az = bx, by, bz
    memory[m.WALK_AT], memory[m.WALK_AT + 1], memory[m.WALK_AT + 2] = x, y, z
    memory[m.WALK_STEP], memory[m.WALK_STEP + 1], memory[m.WALK_STEP + 2] = ax, ay, az
    memory[m.POSITION + m.WALK] = used - m.WALK * width


@internal_uncounted
def matlab_block(n, settings, memory, ahead, width, work):
    """imuSensor's bias instability (a digital filter of unit noise, from rest) and random walk (a running sum).

    Numerator and denominator have one length, and denominator[0] is 1.
    """
    order, numerator = int(settings[s.ORDER]), strides_at(settings)
    denominator = numerator + order + 1
    filtered, walks = acts(settings, s.INSTABILITY), acts(settings, s.WALK)
    used = int(memory[m.POSITION + m.INSTABILITY]) + m.INSTABILITY * width
    stepped = int(memory[m.POSITION + m.WALK]) + m.WALK * width
    for k in range(n):
        for c in range(3):
            total = 0.0
            if filtered:
                w = settings[s.INSTABILITY + c] * ahead[used + 3 * k + c]
                total = settings[numerator] * w + memory[m.PARTS + c]
                for i in range(order):  # the last tap stays zero
                    tap = m.PARTS + 3 * i + c
                    memory[tap] = memory[tap + 3] + settings[numerator + i + 1] * w
                    memory[tap] -= settings[denominator + i + 1] * total
            if walks:
                memory[m.SUM + c] += settings[s.WALK + c] * ahead[stepped + 3 * k + c]
                total += memory[m.SUM + c]
            work[DRIFT + c * WIDTH + k] = total
    memory[m.POSITION + m.INSTABILITY] += 3 * n if filtered else 0
    memory[m.POSITION + m.WALK] += 3 * n if walks else 0
