#!/usr/bin/env python3
"""Two halves of 100 calibration sessions with drift: how often they agree within two sigmas.

Usage: python tools/calibration_checks.py [SESSIONS]
"""

import sys
import warnings

import numpy as np

from strapdown.papers.c.session_halves import BY_CHANCE, DRIFTS, PARTS, SHARE, Halves, sessions, share_within


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")  # notes on single virtual logs
    count = int(arguments[0]) if arguments else 100
    made = sessions(lambda _: None, count)
    names = sorted({name for halves in made for name in halves.differences})
    every = np.concatenate([halves.all for halves in made])
    print(f"{count} virtual sessions of 48 poses, calibrated by halves of 24 with the default model.")
    print("A drift of 1 to 30 mg and 0.01 to 0.3 deg/s over the session, log-uniform, each axis of its own.")
    print(f"Differences of parameters within two combined sigmas (chance: {100 * BY_CHANCE:.1f} %):\n")
    print(f"{'':42}{'differences':>12}{'within, %':>11}{'rms':>7}{'largest':>9}")
    for name in names:
        show(name, [halves.differences[name] for halves in made if name in halves.differences])
    for drift in DRIFTS:
        some = [halves for halves in made if halves.drift == drift]
        show(f"drift: {drift} ({named(some)})", [halves.all for halves in some])
    for part in PARTS:
        show(part, [halves.all for halves in made if halves.part == part])
    for known in (True, False):
        what = f"noise of the part {'given' if known else 'estimated'}"
        show(what, [halves.all for halves in made if halves.known is known])
    show("all", [every])
    whole = np.mean([share_within([halves.all]) >= SHARE for halves in made])
    print(f"\nsessions of which at least 95 % of the parameters agree: {100 * whole:.0f} %")
    passed = share_within([every]) >= SHARE
    print(f"at least {100 * SHARE:.0f} % of all differences within two sigmas: {'yes' if passed else 'NO'}")
    return 0 if passed else 1


def named(made: list[Halves]) -> str:
    return f"named in {sum(halves.named for halves in made)} of {2 * len(made)} halves"


def show(what: str, differences: list[np.ndarray]) -> None:
    if not differences:
        return
    z = np.concatenate(differences)
    rms = float(np.sqrt(np.mean(z**2)))
    print(f"{what:42}{len(z):12d}{100 * share_within([z]):11.1f}{rms:7.2f}{np.abs(z).max():9.1f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
