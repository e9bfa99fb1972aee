// Figures of a report: wheel or drag to zoom, hover to read, click a name to hide its curves, double click to reset.
"use strict";
(() => {
  const INK = "#1d2429", SOFT = "#66727a", LINE = "#dde2e6", FONT = '11px system-ui, "Segoe UI", Roboto, Arial, sans-serif';

  // "first:base64" to numbers: 32-bit differences to the first value
  function numbers(text) {
    const colon = text.indexOf(":"), first = parseFloat(text.slice(0, colon));
    const bytes = Uint8Array.from(atob(text.slice(colon + 1)), (c) => c.charCodeAt(0));
    return Float64Array.from(new Float32Array(bytes.buffer), (d) => first + d);
  }

  function ticks(low, high, log, most) {
    if (log) {
      const found = [];
      for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) found.push(10 ** e);
      if (found.length >= 2) return found;
    }
    const rough = (high - low) / most, scale = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((k) => k * scale >= rough) * scale, found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  }

  const short = (v) => (v === 0 ? "0" : Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6 ? v.toExponential(2) : String(+v.toPrecision(6)));
  const mapped = (v, log) => (log ? Math.log10(Math.max(v, 1e-300)) : v);

  class Chart {
    constructor(figure, data) {
      this.data = data;
      this.hidden = new Set();
      for (const panel of data.panels) {
        for (const curve of [...panel.lines, ...panel.bands]) [curve.x, curve.y] = [numbers(curve.x), numbers(curve.y)];
        panel.home = [panel.x, panel.y];
      }
      this.box = document.createElement("div");
      this.box.className = "chart";
      this.canvas = document.createElement("canvas");
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      this.box.append(this.canvas, this.tip, this.legend());
      figure.append(this.box);
      figure.classList.add("live");
      const c = this.canvas;
      c.tabIndex = 0;
      c.setAttribute("role", "img");
      c.setAttribute("aria-label", figure.querySelector("img").alt + ", interactive");
      c.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
      c.addEventListener("pointerdown", (e) => this.down(e));
      c.addEventListener("pointermove", (e) => this.move(e));
      c.addEventListener("pointerup", (e) => this.up(e));
      c.addEventListener("pointerleave", () => { this.at = null; this.draw(); });
      c.addEventListener("dblclick", () => this.reset());
      new ResizeObserver(() => this.draw()).observe(this.box);
    }

    legend() {
      const row = document.createElement("div");
      row.className = "curves";
      for (const [name, colour] of this.data.names) {
        const button = document.createElement("button");
        button.type = "button";
        button.setAttribute("aria-pressed", "true");
        button.title = "Hide or show";
        const swatch = document.createElement("span");
        swatch.className = "swatch";
        swatch.style.background = colour;
        button.append(swatch, name);
        button.onclick = () => {
          const hide = !this.hidden.has(name);
          hide ? this.hidden.add(name) : this.hidden.delete(name);
          button.setAttribute("aria-pressed", String(!hide));
          this.draw();
        };
        row.append(button);
      }
      const reset = document.createElement("button");
      reset.type = "button";
      reset.className = "reset";
      reset.textContent = "Reset zoom";
      reset.onclick = () => this.reset();
      row.append(reset);
      return row;
    }

    reset() {
      for (const panel of this.data.panels) [panel.x, panel.y] = panel.home;
      this.draw();
    }

    // where a panel is on the canvas: left, top, width, height in px
    frame(panel) {
      const w = this.canvas.clientWidth, h = this.canvas.clientHeight, [x, y, dx, dy] = panel.box;
      return [x * w, (1 - y - dy) * h, dx * w, dy * h];
    }

    // limits that show at least the panel's own, with equal scales where it asks for them
    limits(panel) {
      let [x0, x1, xlog] = panel.x, [y0, y1, ylog] = panel.y;
      [x0, x1, y0, y1] = [mapped(x0, xlog), mapped(x1, xlog), mapped(y0, ylog), mapped(y1, ylog)];
      if (panel.equal) {
        const [, , w, h] = this.frame(panel), sx = (x1 - x0) / w, sy = (y1 - y0) / h, s = Math.max(sx, sy);
        const mx = (x0 + x1) / 2, my = (y0 + y1) / 2;
        [x0, x1, y0, y1] = [mx - (s * w) / 2, mx + (s * w) / 2, my - (s * h) / 2, my + (s * h) / 2];
      }
      return { x0, x1, y0, y1, xlog, ylog };
    }

    place(panel) {
      const [left, top, w, h] = this.frame(panel), l = this.limits(panel);
      return {
        l, left, top, w, h,
        px: (v) => left + ((mapped(v, l.xlog) - l.x0) / (l.x1 - l.x0)) * w,
        py: (v) => top + h - ((mapped(v, l.ylog) - l.y0) / (l.y1 - l.y0)) * h,
        x: (px) => { const v = l.x0 + ((px - left) / w) * (l.x1 - l.x0); return l.xlog ? 10 ** v : v; },
        y: (py) => { const v = l.y0 + ((top + h - py) / h) * (l.y1 - l.y0); return l.ylog ? 10 ** v : v; },
      };
    }

    panelAt(e) {
      const box = this.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
      const panel = this.data.panels.find((p) => {
        const [left, top, w, h] = this.frame(p);
        return x >= left && x <= left + w && y >= top && y <= top + h;
      });
      return { panel, x, y };
    }

    // panels below each other show the same time: they keep the same x
    setX(panel, low, high) {
      for (const other of this.data.panels) {
        const same = other.box[0] === panel.box[0] && other.home[0][0] === panel.home[0][0] && other.home[0][1] === panel.home[0][1];
        if (other === panel || (same && !panel.equal)) other.x = [low, high, other.x[2]];
      }
    }

    wheel(e) {
      const { panel, x, y } = this.panelAt(e);
      if (!panel) return;
      e.preventDefault();
      const p = this.place(panel), k = Math.exp(Math.sign(e.deltaY) * 0.2);
      const [fx, fy] = [(x - p.left) / p.w, (p.top + p.h - y) / p.h];
      const around = (low, high, f) => [low + f * (high - low) * (1 - k), high - (1 - f) * (high - low) * (1 - k)];
      const back = (v, log) => (log ? 10 ** v : v);
      const [x0, x1] = around(p.l.x0, p.l.x1, fx), [y0, y1] = around(p.l.y0, p.l.y1, fy);
      this.setX(panel, back(x0, p.l.xlog), back(x1, p.l.xlog));
      if (panel.equal || e.shiftKey) panel.y = [back(y0, p.l.ylog), back(y1, p.l.ylog), p.l.ylog];
      this.draw();
    }

    down(e) {
      const { panel, x, y } = this.panelAt(e);
      if (panel) { this.drag = { panel, x, y }; this.canvas.setPointerCapture(e.pointerId); }
    }

    move(e) {
      const found = this.panelAt(e);
      this.at = this.drag ? { panel: this.drag.panel, x: found.x, y: found.y } : found.panel ? found : null;
      this.draw();
    }

    up() {
      const d = this.drag, at = this.at;
      this.drag = null;
      if (!d || !at || Math.hypot(at.x - d.x, at.y - d.y) < 6) return this.draw();
      const p = this.place(d.panel), xs = [p.x(d.x), p.x(at.x)].sort((a, b) => a - b), ys = [p.y(d.y), p.y(at.y)].sort((a, b) => a - b);
      if (Math.abs(at.x - d.x) > 4) this.setX(d.panel, xs[0], xs[1]);
      if (Math.abs(at.y - d.y) > 12) d.panel.y = [ys[0], ys[1], p.l.ylog];
      this.draw();
    }

    draw() {
      const c = this.canvas, most = this.box.clientWidth, r = window.devicePixelRatio || 1;
      if (!most) return;
      const h = Math.min(most * this.data.aspect, Math.max(640, most * 0.6)), w = h / this.data.aspect;
      if (c.width !== Math.round(w * r) || c.height !== Math.round(h * r)) {
        [c.width, c.height] = [Math.round(w * r), Math.round(h * r)];
        [c.style.width, c.style.height] = [`${w}px`, `${h}px`];
      }
      const g = c.getContext("2d");
      g.setTransform(r, 0, 0, r, 0, 0);
      g.clearRect(0, 0, w, h);
      for (const panel of this.data.panels) this.panel(g, panel);
      this.read(g);
      const d = this.drag;
      if (d && this.at) {
        g.fillStyle = "rgba(36, 96, 167, 0.12)";
        g.fillRect(Math.min(d.x, this.at.x), Math.min(d.y, this.at.y), Math.abs(this.at.x - d.x), Math.abs(this.at.y - d.y));
      }
    }

    panel(g, panel) {
      const p = this.place(panel), { left, top, w, h, l } = p;
      g.font = FONT;
      g.lineWidth = 1;
      const low = [p.x(left), p.y(top + h)], high = [p.x(left + w), p.y(top)];
      g.strokeStyle = LINE;
      g.fillStyle = SOFT;
      g.textBaseline = "top";
      g.textAlign = "center";
      for (const v of ticks(low[0], high[0], l.xlog, Math.max(2, w / 90))) {
        const x = p.px(v);
        g.beginPath(); g.moveTo(x, top); g.lineTo(x, top + h); g.stroke();
        g.fillText(short(v), x, top + h + 4);
      }
      g.textBaseline = "middle";
      g.textAlign = "right";
      for (const v of ticks(low[1], high[1], l.ylog, Math.max(3, h / 26))) {
        const y = p.py(v);
        g.beginPath(); g.moveTo(left, y); g.lineTo(left + w, y); g.stroke();
        g.fillText(short(v), left - 5, y);
      }
      g.strokeStyle = SOFT;
      g.beginPath(); g.moveTo(left, top); g.lineTo(left, top + h); g.lineTo(left + w, top + h); g.stroke();
      g.fillStyle = INK;
      g.textAlign = "center";
      g.textBaseline = "bottom";
      if (panel.labels[0]) g.fillText(panel.labels[0], left + w / 2, top + h + 32);
      if (panel.labels[2]) { g.textAlign = "left"; g.fillText(panel.labels[2], left, top - 4); }
      if (panel.labels[1]) {
        g.save();
        g.translate(Math.max(10, left - 52), top + h / 2);
        g.rotate(-Math.PI / 2);
        g.textAlign = "center";
        g.fillText(panel.labels[1], 0, 0);
        g.restore();
      }
      g.save();
      g.beginPath(); g.rect(left, top, w, h); g.clip();
      for (const band of panel.bands) if (!this.hidden.has(band.name)) this.band(g, p, band);
      for (const line of panel.lines) if (!this.hidden.has(line.name)) this.line(g, p, line);
      g.restore();
    }

    band(g, p, band) {
      g.globalAlpha = band.alpha;
      g.fillStyle = band.colour;
      g.beginPath();
      for (let i = 0; i < band.x.length; i++) g.lineTo(p.px(band.x[i]), p.py(band.y[i]));
      g.fill();
      g.globalAlpha = 1;
    }

    line(g, p, line) {
      g.globalAlpha = line.alpha;
      g.strokeStyle = line.colour;
      if (line.width) {
        g.lineWidth = line.width * 1.1;
        g.setLineDash(line.dashed ? [5, 3] : []);
        g.beginPath();
        let gap = true;
        for (let i = 0; i < line.x.length; i++) {
          if (!isFinite(line.y[i])) { gap = true; continue; }
          gap ? g.moveTo(p.px(line.x[i]), p.py(line.y[i])) : g.lineTo(p.px(line.x[i]), p.py(line.y[i]));
          gap = false;
        }
        g.stroke();
        g.setLineDash([]);
      }
      if (line.dot) {
        g.fillStyle = line.face;
        g.lineWidth = 1;
        for (let i = 0; i < line.x.length; i++) {
          g.beginPath();
          g.arc(p.px(line.x[i]), p.py(line.y[i]), Math.max(1.5, line.dot * 0.55), 0, 7);
          g.fill();
          if (line.face !== line.colour) g.stroke();
        }
      }
      g.globalAlpha = 1;
    }

    // the nearest point of each visible curve, and of all of them the one under the pointer
    read(g) {
      const at = this.at;
      if (!at || !at.panel || this.drag) { this.tip.style.display = "none"; return; }
      const p = this.place(at.panel), rows = [];
      for (const line of at.panel.lines) {
        if (this.hidden.has(line.name) || !line.name) continue;
        let best = -1, least = Infinity;
        for (let i = 0; i < line.x.length; i++) {
          const dx = p.px(line.x[i]) - at.x, dy = at.panel.equal ? p.py(line.y[i]) - at.y : 0, d = dx * dx + dy * dy;
          if (d < least) [least, best] = [d, i];
        }
        if (best >= 0 && least < 40 * 40) rows.push([line, line.x[best], line.y[best]]);
      }
      if (!at.panel.equal) {
        g.strokeStyle = SOFT;
        g.lineWidth = 1;
        g.beginPath(); g.moveTo(at.x, p.top); g.lineTo(at.x, p.top + p.h); g.stroke();
      }
      this.tip.replaceChildren();
      for (const [line, x, y] of rows) {
        g.fillStyle = line.colour;
        g.beginPath(); g.arc(p.px(x), p.py(y), 3.5, 0, 7); g.fill();
        const row = document.createElement("div");
        row.textContent = `${line.name}: ${at.panel.equal ? `${short(x)}, ${short(y)}` : short(y)}`;
        this.tip.append(row);
      }
      const head = document.createElement("div");
      head.className = "soft";
      head.textContent = at.panel.equal ? `${short(p.x(at.x))}, ${short(p.y(at.y))}` : `${at.panel.labels[0] || "x"}: ${short(p.x(at.x))}`;
      this.tip.prepend(head);
      this.tip.style.display = "block";
      const wide = this.tip.offsetWidth;
      this.tip.style.left = `${at.x + wide + 20 > this.canvas.clientWidth ? at.x - wide - 12 : at.x + 14}px`;
      this.tip.style.top = `${at.y + 12}px`;
    }
  }

  for (const script of document.querySelectorAll("figure > script[type='application/json']")) {
    script.parentElement.chart = new Chart(script.parentElement, JSON.parse(script.textContent));
  }
})();
