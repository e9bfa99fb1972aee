// Files of the user, by their names.

export type FileKind = "scenario" | "recording" | "robot";

const ROBOT = /\.(urdf|xml|mjcf)$/i;
const MESH = /\.(stl|obj)$/i; // of a robot: not opened by itself

export function kindOf(name: string): FileKind {
  return ROBOT.test(name) ? "robot" : /\.toml$/i.test(name) ? "scenario" : "recording";
}

/** The file to open among several: a robot comes with its meshes, a scenario with its diagram. */
export function mainFile(names: readonly string[]): string | undefined {
  return names.find((name) => ROBOT.test(name)) ?? names.find((name) => !MESH.test(name));
}
