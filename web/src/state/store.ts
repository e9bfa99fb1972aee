// A small store: one value, listeners, and a hook for React.
import { useSyncExternalStore } from "react";

export class Store<T extends object> {
  private listeners = new Set<() => void>();
  constructor(public value: T) {}

  get = (): T => this.value;

  set(change: Partial<T> | ((now: T) => Partial<T>)): void {
    const part = typeof change === "function" ? change(this.value) : change;
    if (Object.keys(part).every((key) => Object.is(part[key as keyof T], this.value[key as keyof T]))) return;
    this.value = { ...this.value, ...part };
    for (const listener of [...this.listeners]) listener();
  }

  listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

/** A part of a store's value; the component is drawn again when this part is another one. */
export function useStore<T extends object, S>(store: Store<T>, pick: (value: T) => S): S {
  return useSyncExternalStore(store.listen, () => pick(store.value));
}
