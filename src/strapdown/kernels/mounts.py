"""What sensors on moving links feel at one instant, from a physics engine's own arrays."""

from strapdown.kernels.frames import cross
from strapdown.kernels.jit import live
from strapdown.kernels.rotation import mul, rotate


@live
def read_mounts(links, centres, p_n, q_nb, velocity, acceleration, centre_n, g_n, r_bs_b, q_bs, out):
    """One row per mount: p_n 0:3, q_ns 3:7, v_n 7:10, a_n 10:13, w_s 13:16, dw_s 16:19, f_s 19:22.

    Of all links: position of the origin, attitude, and angular (0:3) and linear (3:6) velocity and acceleration, frame
    n. The linear ones are spatial vectors at the point centre_n, and the acceleration has gravity in it (f = a - g).
    Of each mount: the link, the row of its centre, the lever arm and the mounting rotation.
    """
    for i in range(len(links)):
        b, c = links[i], centres[i]
        qw, qx, qy, qz = q_nb[b, 0], q_nb[b, 1], q_nb[b, 2], q_nb[b, 3]
        rx, ry, rz = rotate(qw, qx, qy, qz, r_bs_b[i, 0], r_bs_b[i, 1], r_bs_b[i, 2])
        px, py, pz = p_n[b, 0] + rx, p_n[b, 1] + ry, p_n[b, 2] + rz
        # from the centre to the mount
        rx, ry, rz = px - centre_n[c, 0], py - centre_n[c, 1], pz - centre_n[c, 2]
        wx, wy, wz = velocity[b, 0], velocity[b, 1], velocity[b, 2]
        tx, ty, tz = cross(wx, wy, wz, rx, ry, rz)
        vx, vy, vz = velocity[b, 3] + tx, velocity[b, 4] + ty, velocity[b, 5] + tz
        ex, ey, ez = cross(acceleration[b, 0], acceleration[b, 1], acceleration[b, 2], rx, ry, rz)
        cx, cy, cz = cross(wx, wy, wz, vx, vy, vz)  # a spatial acceleration is that of a point plus v x w
        fx, fy, fz = acceleration[b, 3] + ex + cx, acceleration[b, 4] + ey + cy, acceleration[b, 5] + ez + cz
        qw, qx, qy, qz = mul(qw, qx, qy, qz, q_bs[i, 0], q_bs[i, 1], q_bs[i, 2], q_bs[i, 3])
        out[i, 0], out[i, 1], out[i, 2] = px, py, pz
        out[i, 3], out[i, 4], out[i, 5], out[i, 6] = qw, qx, qy, qz
        out[i, 7], out[i, 8], out[i, 9] = vx, vy, vz
        out[i, 10], out[i, 11], out[i, 12] = fx + g_n[0], fy + g_n[1], fz + g_n[2]
        out[i, 13], out[i, 14], out[i, 15] = rotate(qw, -qx, -qy, -qz, wx, wy, wz)
        out[i, 16], out[i, 17], out[i, 18] = rotate(
            qw, -qx, -qy, -qz, acceleration[b, 0], acceleration[b, 1], acceleration[b, 2]
        )
        out[i, 19], out[i, 20], out[i, 21] = rotate(qw, -qx, -qy, -qz, fx, fy, fz)


@live
def all_within(positions, speeds, largest):
    """Whether every number is finite and below the largest."""
    within = True
    for x in positions:
        within = within and abs(x) < largest
    for x in speeds:
        within = within and abs(x) < largest
    return within
