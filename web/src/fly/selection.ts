// The sensor that is chosen in the panel, and the one that is about to be created; the scene shows where they are.
import type { Mark } from "../scene/vehicle.ts";
import { Store } from "../state/store.ts";

export const selectedSensor = new Store({ name: null as string | null, planned: null as Mark | null });
