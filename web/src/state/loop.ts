// One animation loop for all that is drawn with data. Heavy tasks take turns, so that no frame takes long.

interface Task {
  run(): void;
  everyMs: number;
  heavy: boolean;
  last: number;
}

const tasks = new Set<Task>();
const HEAVY_PER_FRAME = 1;
let turn = 0;
let running = false;

function frame(time: number): void {
  requestAnimationFrame(frame);
  const heavy: Task[] = [];
  for (const task of tasks) {
    if (task.heavy) heavy.push(task);
    else if (time - task.last >= task.everyMs - 4) {
      task.last = time;
      task.run();
    }
  }
  for (let i = 0, done = 0; i < heavy.length && done < HEAVY_PER_FRAME; i++) {
    const task = heavy[(turn + i) % heavy.length]!;
    if (time - task.last < task.everyMs - 4) continue;
    task.last = time;
    task.run();
    done++;
    if (done === HEAVY_PER_FRAME) turn = (turn + i + 1) % heavy.length;
  }
}

/** Run something again and again, at most `hz` times a second. Returns what ends it. */
export function everyFrame(hz: number, run: () => void, heavy = false): () => void {
  const task: Task = { run, everyMs: 1000 / hz, heavy, last: 0 };
  tasks.add(task);
  if (!running) {
    running = true;
    requestAnimationFrame(frame);
  }
  return () => tasks.delete(task);
}
