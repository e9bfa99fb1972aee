// The guided calibrations.
import type * as M from "../messages.ts";

export type Workflow = NonNullable<M.Calibration["workflow"]>;
export const FLOWS: readonly { workflow: Workflow; title: string; text: string; about: string }[] = [
  { workflow: "static", title: "At rest", text: "Gyroscope offset, 20 s", about: "The sensor lies level and still. Finds the offset of the gyroscope." },
  { workflow: "six_positions", title: "Six positions", text: "Accelerometer offset, scale, axes", about: "The sensor lies on each of its six faces. Finds offset, scale and axes of the accelerometer." },
  { workflow: "magnetometer", title: "All directions", text: "Magnetometer hard and soft iron", about: "You turn the sensor until the field has pointed everywhere. Finds hard and soft iron." },
];
