// The sensor that is chosen in the panel; the scene shows where it is.
import { Store } from "../state/store.ts";

export const selectedSensor = new Store({ name: null as string | null });
