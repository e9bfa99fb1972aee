// Two sticks on the screen, the choice of the input, and the keys.
import { useRef, type ReactNode } from "react";
import { assignment, setStick, sticks } from "../input/sticks.ts";
import { gamepadName } from "../input/gamepad.ts";
import { operate, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { ui, type Input } from "../state/ui.ts";
import { Segment } from "../ui/controls.tsx";
import { shownAs } from "../state/studio.ts";
import { short, unitText } from "../state/format.ts";
import type { Slider } from "../messages.ts";

const REACH = 34;

export function Sticks(): ReactNode {
  const session = useStore(world, (w) => w.session);
  const input = useStore(ui, (u) => u.input);
  const names = assignment(session?.controls ?? []);
  const label = (a: string | null, b: string | null): string => {
    const text = [a, b].filter(Boolean).join(", ");
    return text ? text[0]!.toUpperCase() + text.slice(1) : "";
  };
  const choose = (wanted: Input): void => {
    if (wanted === "gamepad" && !gamepadName()) toast("warn", "No gamepad found", "Connect it and press one of its buttons.");
    ui.set({ input: wanted });
  };
  const has = names.leftX ?? names.leftY ?? names.rightX ?? names.rightY;
  return (
    <section className="sticks" id="region-sticks" aria-label="Sticks" tabIndex={-1}>
      {(names.leftX ?? names.leftY) && <Stick side="left" label={label(names.leftY, names.leftX)} keys={["W", "D", "S", "A"]} />}
      {(names.rightX ?? names.rightY) && <Stick side="right" label={label(names.rightY, names.rightX)} keys={["↑", "→", "↓", "←"]} />}
      {session && session.sliders.length > 0 && <Sliders list={session.sliders} />}
      {has && (
        <div className="src wide-only">
          <Segment<Input>
            small
            label="Input"
            value={input}
            options={[{ value: "keys", text: "Keys" }, { value: "screen", text: "Screen" }, { value: "gamepad", text: "Gamepad" }]}
            onChange={choose}
          />
          <p><kbd>Space</kbd><em>disarm (hold)</em></p>
          <p><kbd>P</kbd><em>pause</em><kbd>.</kbd><em>step</em></p>
          <p><kbd>,</kbd><em>back 1 s</em><kbd>C</kbd><em>camera</em></p>
        </div>
      )}
    </section>
  );
}

function Stick({ side, label, keys }: { side: "left" | "right"; label: string; keys: [string, string, string, string] }): ReactNode {
  const [x, y] = useStore(sticks, (s) => s[side]);
  const pad = useRef<SVGSVGElement>(null);
  const move = (event: React.PointerEvent): void => {
    const box = pad.current!.getBoundingClientRect();
    const scale = (box.width / 88) * REACH;
    ui.set({ input: "screen" });
    setStick(side, (event.clientX - box.left - box.width / 2) / scale, -(event.clientY - box.top - box.height / 2) / scale);
  };
  const nudge = (event: React.KeyboardEvent): void => {
    const step: Record<string, [number, number]> = { ArrowUp: [0, 0.1], ArrowDown: [0, -0.1], ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], Home: [-x, -y] };
    const by = step[event.key];
    if (!by || ui.value.input !== "screen") return;
    event.preventDefault();
    event.stopPropagation();
    setStick(side, x + by[0], y + by[1]);
  };
  return (
    <div className="stick">
      <svg
        ref={pad}
        viewBox="-44 -44 88 88"
        role="img"
        tabIndex={0}
        aria-label={`${side === "left" ? "Left" : "Right"} stick, ${label.toLowerCase()}: ${Math.round(100 * y)} % up, ${Math.round(100 * x)} % right`}
        onPointerDown={(e) => {
          e.currentTarget.setPointerCapture(e.pointerId);
          move(e);
        }}
        onPointerMove={(e) => e.buttons && move(e)}
        onPointerUp={() => setStick(side, 0, 0)}
        onPointerCancel={() => setStick(side, 0, 0)}
        onKeyDown={nudge}
      >
        <rect className="frame" x="-43" y="-43" width="86" height="86" rx="9" />
        <path className="lines" d="M-43 0H43M0-43V43" />
        <circle className="lines" r="26" />
        <g className="keyhint">
          <text y="-32">{keys[0]}</text>
          <text x="35" y="4">{keys[1]}</text>
          <text y="39">{keys[2]}</text>
          <text x="-35" y="4">{keys[3]}</text>
        </g>
        <path className="rod" d={`M0 0L${x * REACH} ${-y * REACH}`} />
        <circle className="knob" cx={x * REACH} cy={-y * REACH} r="9" />
      </svg>
      <small>{label}</small>
    </div>
  );
}

/** Sliders of the diagram: the joints of a manipulator. */
function Sliders({ list }: { list: readonly Slider[] }): ReactNode {
  return (
    <div className="joints scroll" tabIndex={0} role="group" aria-label="Sliders">
      {list.map((slider) => <OneSlider key={slider.block} slider={slider} />)}
    </div>
  );
}

function OneSlider({ slider }: { slider: Slider }): ReactNode {
  const shown = shownAs(slider.unit);
  const output = useRef<HTMLOutputElement>(null);
  const text = (value: number): string => `${short(value * shown.factor)} ${unitText(shown.unit)}`;
  return (
    <label className="joint">
      <span>{slider.label}</span>
      <input
        type="range"
        min={slider.low}
        max={slider.high}
        step={(slider.high - slider.low) / 200}
        defaultValue={slider.value}
        onChange={(e) => {
          const value = Number(e.target.value);
          if (output.current) output.current.value = text(value);
          void operate({ sliders: { [slider.block]: value } });
        }}
      />
      <output ref={output}>{text(slider.value)}</output>
    </label>
  );
}
