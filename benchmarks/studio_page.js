// Counts the frames in which a scene was drawn, and waits for the frame in which its picture changes after a key.
(() => {
  const bench = { drawn: 0, first: 0, gl: null, latency: 0, still };
  const EVERY = 4; // of the picture's pixels in each direction
  let tick = 0; // the animation frame
  let inTick = -1; // the last one in which the scene was drawn
  let picture = null;
  let changedAt = 0;
  let calm = 0; // pixels that change by themselves: the ghost of an estimate moves with its noise
  let watching = false;
  let learning = false;
  let waiting = false;
  let pressed = 0;

  const clear = WebGL2RenderingContext.prototype.clear;
  WebGL2RenderingContext.prototype.clear = function (mask) {
    if (this.canvas.isConnected && inTick !== tick) {
      inTick = tick;
      bench.gl = this;
      bench.drawn++;
      if (bench.first === 0) requestAnimationFrame(() => (bench.first = performance.now()));
    }
    return clear.call(this, mask);
  };
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) => request((time) => {
    tick = time;
    run(time);
    if (watching && inTick === tick) look();
  });

  /** How many pixels differ from the last picture. */
  function changes() {
    const gl = bench.gl;
    const [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const now = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, now);
    let count = 0;
    if (picture !== null && picture.length === now.length) {
      for (let y = 0; y < h; y += EVERY) {
        for (let x = 0; x < w; x += EVERY) {
          const i = 4 * (y * w + x);
          if (Math.abs(now[i] - picture[i]) + Math.abs(now[i + 1] - picture[i + 1]) + Math.abs(now[i + 2] - picture[i + 2]) > 12) count++;
        }
      }
    }
    picture = now;
    return count;
  }

  let lookedAt = -1;
  function look() {
    if (lookedAt === tick) return; // several callbacks in one animation frame
    lookedAt = tick;
    const count = changes();
    if (learning) calm = Math.max(count, calm);
    if (count <= 2 * calm + 3) return;
    changedAt = performance.now();
    if (pressed === 0) return;
    const from = pressed;
    pressed = 0;
    waiting = false;
    request(() => (bench.latency = performance.now() - from));
  }

  /** True if nothing moved for some time. */
  function still(ms) {
    return performance.now() - changedAt > ms;
  }

  /** Look at a picture at rest: how much of it changes. */
  bench.learn = (on) => {
    watching = true;
    learning = on;
  };

  bench.expect = () => {
    bench.latency = 0;
    waiting = true;
  };
  window.addEventListener("keydown", (event) => {
    if (waiting && pressed === 0 && !event.repeat) pressed = event.timeStamp;
  }, true);
  window.bench = bench;
})();
