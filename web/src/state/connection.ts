// The websocket: commands with answers, binary frames, and a new attempt after a loss.
import type { Command, Message, Reply } from "../messages.ts";
import { readFrame, type Frame } from "./frame.ts";

export type LinkStatus = "connecting" | "open" | "lost";

export interface LinkHandlers {
  message(message: Message): void;
  frame(frame: Frame): void;
  status(status: LinkStatus, retryInS: number): void;
}

type WithoutId<C> = C extends unknown ? Omit<C, "id"> : never;
export type Request = WithoutId<Command>;

const WAITS_S = [1, 2, 3, 5, 5, 10]; // before the attempts after a loss
const STICKS_EVERY_MS = 20;

export class Connection {
  private socket: WebSocket | null = null;
  private nextId = 1;
  private waiting = new Map<number, { done(reply: Reply): void; failed(error: Error): void }>();
  private histories = new Map<number, (frame: Frame) => void>();
  private attempts = 0;
  private timer = 0;
  private retryAt = 0;

  constructor(private readonly address: string, private readonly handlers: LinkHandlers) {}

  open(): void {
    window.clearTimeout(this.timer);
    this.handlers.status(this.attempts ? "lost" : "connecting", 0);
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.attempts = 0;
      this.handlers.status("open", 0);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = () => this.closed(socket);
  }

  private closed(socket: WebSocket): void {
    if (socket !== this.socket) return;
    this.socket = null;
    for (const { failed } of this.waiting.values()) failed(new Error("the connection was lost"));
    this.waiting.clear();
    this.histories.clear();
    const wait = WAITS_S[Math.min(this.attempts, WAITS_S.length - 1)]!;
    this.attempts++;
    this.retryAt = performance.now() + 1000 * wait;
    this.count();
  }

  private count(): void {
    const left = Math.ceil((this.retryAt - performance.now()) / 1000);
    if (left <= 0) return this.open();
    this.handlers.status("lost", left);
    this.timer = window.setTimeout(() => this.count(), 250);
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      const frame = readFrame(data);
      if (!frame) return;
      const wanted = frame.kind === 2 ? this.histories.get(frame.sequence) : undefined;
      if (wanted) {
        this.histories.delete(frame.sequence);
        wanted(frame);
      } else if (frame.kind === 1) this.handlers.frame(frame);
      return;
    }
    const message = JSON.parse(data) as Message;
    if (message.type === "reply") {
      const asked = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      asked?.done(message);
    }
    this.handlers.message(message);
  }

  /** Send a command without waiting for its answer. */
  send(command: Request): void {
    this.transmit(command, 0);
  }

  /** Send a command; the answer states whether it was carried out. */
  ask(command: Request): Promise<Reply> {
    const id = this.nextId++;
    return new Promise((done, failed) => {
      if (!this.transmit(command, id)) return failed(new Error("there is no connection"));
      this.waiting.set(id, { done, failed });
    });
  }

  /** Ask for earlier samples; the answer is a binary message. */
  history(command: Omit<Extract<Request, { type: "history" }>, "type">, done: (frame: Frame) => void): void {
    const id = this.nextId++;
    if (this.transmit({ type: "history", ...command }, id)) this.histories.set(id, done);
  }

  private transmit(command: Request, id: number): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(id ? { ...command, id } : command));
    return true;
  }
}

/** Sends the latest sticks, at most 50 times a second and only what changed. */
export class StickSender {
  private sent: Record<string, number> = {};
  private wanted: Record<string, number> = {};
  private timer = 0;
  private last = 0;

  constructor(private readonly send: (changes: Record<string, number>) => void) {}

  move(changes: Record<string, number>): void {
    Object.assign(this.wanted, changes);
    if (this.timer) return;
    const wait = Math.max(0, this.last + STICKS_EVERY_MS - performance.now());
    if (wait === 0) this.flush();
    else this.timer = window.setTimeout(() => this.flush(), wait);
  }

  forget(): void {
    this.sent = {};
  }

  private flush(): void {
    this.timer = 0;
    const changed = Object.fromEntries(Object.entries(this.wanted).filter(([name, v]) => this.sent[name] !== v));
    if (Object.keys(changed).length === 0) return;
    this.last = performance.now();
    Object.assign(this.sent, changed);
    this.send(changed);
  }
}
