"""Matrices of a step of the error-state filter, written out from its tape."""

import numpy as np

from strapdown.kernels.navigation.eskf import layout as at


def phi_of(tape):
    """Phi of a step, written out from its blocks."""
    phi = np.eye(at.N)
    r = tape[at.T_R : at.T_R + 9].reshape(3, 3)
    x, y, z = tape[at.T_F : at.T_F + 3]
    phi[3:6, 6:9] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    phi[3:6, 12:15] = -r
    phi[:3] += 0.5 * tape[at.T_H] * (phi[3:6] + np.eye(at.N)[3:6])  # the mean of both velocities
    phi[6:9, 9:12] = -tape[at.T_TURN] * r
    return phi @ np.diag(np.concatenate([np.ones(9), tape[at.T_RHO : at.T_RHO + 7]]))


def reset_of(tape):
    """T of a step: the covariance is put onto the corrected velocity and position."""
    reset = np.eye(at.N)
    for k in (at.P_N, at.V_N):
        x, y, z = tape[at.T_MOVED + k : at.T_MOVED + k + 3]
        reset[k : k + 3, 6:9] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return reset
