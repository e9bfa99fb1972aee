"""Places of the settings of an error chain in their array: fixed places first, then parts of variable length."""

STRIDE = 0  # every STRIDE-th row of the input is sampled
MATLAB = 1  # 1: the formulas of MATLAB and paper B, 0: physical
FILTERED, LOWPASS = 2, 3  # 1 if there is a low-pass; b0, b1, b2, a1, a2
NONLINEARITY = 8  # (3) unit, of either sign
FULL_SCALE, RESOLUTION = 11, 12  # inf: no limit; 0: not rounded
MATRIX = 13  # (9)
FORCED, G_MATRIX = 22, 23  # 1 if g_sensitivity acts; (9)
BIAS, TURN_ON = 32, 35  # (3) each
REFERENCE_C, LOW_C, HIGH_C = 38, 39, 40
WHITE = 41  # (3) standard deviation per sample
QUANTUM = 44  # (3) width of the quantisation error, per sample period
INSTABILITY, WALK = 47, 50  # (3) unit; (3) standard deviation per sample
NODE = 53  # samples per node of the instability's grid, for a run that starts
LATENCY, JITTER, LOSS, SHORTEST = (
    54,
    55,
    56,
    57,
)  # SHORTEST: s between two stamps at least, where jitter would swap them
STEP, UNEVEN = 58, 59  # s between rows; largest difference from it that is accepted, inf: not checked
# lengths of the parts below
PROCESSES, BIAS_POWERS, SCALE_POWERS, ORDER = 60, 61, 62, 63
TURNED, AXES = 64, 65  # 1 if the instrument has axes of its own; (9) v_module = AXES @ v_instrument
PARTS = 74  # temperature bias (3 per power), temperature scale (3 per power), then
# physical: strides (samples), keep, sigma, fresh sigma of the processes
# MATLAB: numerator, denominator (ORDER + 1 each)
