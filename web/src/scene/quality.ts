// How finely the scene is drawn: as finely as the computer allows.

/** low: coarse, for tests. high: as fine as the screen. auto: fine where a graphics card draws, else as time allows. */
export type Quality = "low" | "high" | "auto";

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;
const SLOW_MS = 24; // between pictures: below 42 per second, a little above the 40 that are asked
const LOOK_MS = 1000;

/** Whether the processor draws in place of a graphics card. */
function softwareRendering(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}

/** Smoothed edges, and pixels of the picture for a pixel of the page. */
export class Detail {
  readonly smooth: boolean;
  ratio: number;
  private readonly least: number;
  private since = 0;
  private pictures = 0;

  constructor(quality: Quality) {
    const software = quality === "auto" && softwareRendering();
    this.smooth = quality !== "low" && !software;
    const full = Math.min(2, devicePixelRatio);
    this.ratio = quality === "low" ? 0.6 : software ? 0.8 * full : full;
    this.least = quality === "auto" ? Math.min(this.ratio, software ? 0.5 : 1) : this.ratio;
  }

  /** Tell that a picture is drawn; true if the ratio became smaller. */
  drawn(time: number): boolean {
    this.pictures++;
    const passed = time - this.since;
    if (passed < LOOK_MS) return false;
    const slow = this.since > 0 && passed < 5 * LOOK_MS && passed / this.pictures > SLOW_MS;
    this.since = time;
    this.pictures = 0;
    if (!slow || this.ratio <= this.least) return false;
    this.ratio = Math.max(this.least, 0.8 * this.ratio);
    return true;
  }
}
