/* What differs between modules. All else is set by the host. */
#ifndef CONFIG_H
#define CONFIG_H

#define FIRMWARE_VERSION {1, 0, 0}

#define LINE_BAUD 921600

/* Travel for one tick of a wheel encoder on PA6 and PA7 (nm). 0: no encoder; its timer stays off. */
#ifndef ENCODER_TICK_NM
#define ENCODER_TICK_NM 0
#endif

/* For x, y, z of the module the axis 1, 2 or 3 of the magnetometer; negative: opposite direction. */
#define MAGNETOMETER_AXES {1, 2, 3}

#endif
