"""Motion of sensors on moving links at one instant, from a physics engine's own arrays."""

from strapdown.kernels.frames import cross
from strapdown.kernels.jit import internal_uncounted, live, pointer, row
from strapdown.kernels.rotation import mul, rotate

ROW = 22  # columns of a row of a plant (live.PLANT_COLUMNS)


@internal_uncounted
def read_mount(p_n, q_nb, velocity, acceleration, centre_n, g_n, r_bs_b, q_bs, out):
    """The row of one mount, from its link; all are addresses. Read one mount; the arrays are explained at
    read_mounts.
    """
    qw, qx, qy, qz = q_nb[0], q_nb[1], q_nb[2], q_nb[3]
    rx, ry, rz = rotate(qw, qx, qy, qz, r_bs_b[0], r_bs_b[1], r_bs_b[2])
    px, py, pz = p_n[0] + rx, p_n[1] + ry, p_n[2] + rz
    # from the centre to the mount
    rx, ry, rz = px - centre_n[0], py - centre_n[1], pz - centre_n[2]
    wx, wy, wz = velocity[0], velocity[1], velocity[2]
    tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
    vx, vy, vz = velocity[3] + tx, velocity[4] + ty, velocity[5] + tz
    ex, ey, ez = cross(acceleration[0], acceleration[1], acceleration[2], rx, ry, rz)
    cx, cy, cz = cross(wx, wy, wz, vx, vy, vz)  # a spatial acceleration is that of a point plus v x w
    fx, fy, fz = acceleration[3] + ex + cx, acceleration[4] + ey + cy, acceleration[5] + ez + cz
    qw, qx, qy, qz = mul(qw, qx, qy, qz, q_bs[0], q_bs[1], q_bs[2], q_bs[3])
    out[0], out[1], out[2] = px, py, pz
    out[3], out[4], out[5], out[6] = qw, qx, qy, qz
    out[7], out[8], out[9] = vx, vy, vz
    out[10], out[11], out[12] = fx + g_n[0], fy + g_n[1], fz + g_n[2]
    out[13], out[14], out[15] = rotate(qw, -qx, -qy, -qz, wx, wy, wz)
    out[16], out[17], out[18] = rotate(qw, -qx, -qy, -qz, acceleration[0], acceleration[1], acceleration[2])
    out[19], out[20], out[21] = rotate(qw, -qx, -qy, -qz, fx, fy, fz)


@live
def read_mounts(links, centres, p_n, q_nb, velocity, acceleration, centre_n, g_n, r_bs_b, q_bs, out):
    """One row per mount: p_n 0:3, q_ns 3:7, v_n 7:10, a_n 10:13, w_s 13:16, dw_s 16:19, f_s 19:22.

    Arrays of all links: position of the origin, attitude, and angular (0:3) and linear (3:6) velocity and acceleration,
    frame n. Linear velocity and acceleration are spatial vectors at the point centre_n. The acceleration includes
    gravity (f = a - g). Arrays of each mount: the link, the row of its centre, the lever arm and the mounting rotation.
    """
    g = pointer(g_n)
    for i in range(len(links)):
        b, centre = links[i], row(centre_n, centres[i])
        here, turned, moves, gains = row(p_n, b), row(q_nb, b), row(velocity, b), row(acceleration, b)
        read_mount(here, turned, moves, gains, centre, g, row(r_bs_b, i), row(q_bs, i), row(out, i))


@live
def all_within(positions, speeds, largest):
    """Whether every number is finite and below the largest."""
    within = True
    for x in positions:
        within = within and abs(x) < largest
    for x in speeds:
        within = within and abs(x) < largest
    return within
