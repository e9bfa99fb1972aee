// Counts the frames in which a scene was drawn. After a key it waits for the first message of the simulation in which
// the stick has moved, and for the frame that was drawn from it.
(() => {
  const bench = { drawn: 0, first: 0, gl: null, latency: 0 };
  let tick = 0; // the animation frame
  let inTick = -1; // the last one in which the scene was drawn
  let sticks = "";
  let pressed = 0; // 0: no key is waited for
  let arrived = false;

  const clear = WebGL2RenderingContext.prototype.clear;
  WebGL2RenderingContext.prototype.clear = function (mask) {
    if (this.canvas.isConnected && inTick !== tick) {
      inTick = tick;
      bench.gl = this;
      bench.drawn++;
      if (bench.first === 0) requestAnimationFrame(() => (bench.first = performance.now()));
      if (arrived) drawn();
    }
    return clear.call(this, mask);
  };
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) => request((time) => {
    tick = time;
    run(time);
  });

  /** The state after the key is drawn now; it is on the screen when the next animation frame begins. */
  function drawn() {
    const from = pressed;
    pressed = 0;
    arrived = false;
    request(() => (bench.latency = performance.now() - from));
  }

  function received(data) {
    if (!(data instanceof ArrayBuffer) || new Uint8Array(data)[0] !== 1) return;
    const now = new Float32Array(data, CONSOLE_AT, CONSOLE_COUNT).join();
    if (pressed > 0 && now !== sticks) arrived = true;
    sticks = now;
  }

  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (event) => received(event.data));
    }
  };
  window.addEventListener("keydown", (event) => {
    if (event.repeat) return;
    bench.latency = 0;
    pressed = event.timeStamp;
  }, true);
  window.bench = bench;
})();
