// Fields for numbers, vectors, texts and choices. Enter or leaving a field applies it; a bad value is not sent.
import { useEffect, useId, useState, type ReactNode } from "react";
import { forField, fromField, nudged, unitText } from "../state/format.ts";
import { shownAs } from "../state/studio.ts";

export interface Limits {
  low?: number;
  high?: number;
  above?: number;
  below?: number;
}

interface NumberProps {
  label: string;
  value: number;
  unit: string | null;
  onApply(value: number): void;
  limits?: Limits;
  original?: number;
  whole?: boolean;
  title?: string;
}

/** Why a number cannot be used, with the limit in the unit that is shown; "" if it can. */
export function refusal(value: number, limits: Limits, unit: string, factor: number, whole = false): string {
  const shown = (limit: number): string => `${forField(limit * factor)}${unit ? ` ${unit}` : ""}`;
  if (!Number.isFinite(value)) return "Give a number.";
  if (whole && !Number.isInteger(value)) return "Give a whole number.";
  if (limits.low !== undefined && value < limits.low) return `At least ${shown(limits.low)}.`;
  if (limits.high !== undefined && value > limits.high) return `At most ${shown(limits.high)}.`;
  if (limits.above !== undefined && value <= limits.above) return `More than ${shown(limits.above)}.`;
  if (limits.below !== undefined && value >= limits.below) return `Less than ${shown(limits.below)}.`;
  return "";
}

interface InputProps {
  id?: string;
  value: number;
  factor: number;
  label: string;
  edited: boolean;
  check(value: number): string;
  onApply(value: number): void;
  onBad(sentence: string): void;
  title?: string;
}

function NumberInput({ id, value, factor, label, edited, check, onApply, onBad, title }: InputProps): ReactNode {
  const shown = forField(value * factor);
  const [text, setText] = useState(shown);
  const [bad, setBad] = useState("");
  const [editing, setEditing] = useState(false);
  useEffect(() => {
    if (!editing) {
      setText(shown);
      setBad("");
      onBad("");
    }
    // the callback is new each time; only the value matters
    // eslint-disable-next-line
  }, [shown, editing]);
  const apply = (given: string): void => {
    if (given === shown) return void (setBad(""), onBad(""));
    const number = fromField(given) / factor;
    const sentence = check(number);
    setBad(sentence);
    onBad(sentence && `${sentence} Not applied, ${shown || "the old value"} stays.`);
    if (!sentence) onApply(number);
  };
  return (
    <input
      id={id}
      className={`in ${bad ? "bad" : edited ? "edited" : ""}`}
      inputMode="decimal"
      autoComplete="off"
      spellCheck={false}
      value={text}
      title={title}
      aria-label={label}
      aria-invalid={bad ? true : undefined}
      onFocus={() => setEditing(true)}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        apply(text);
        setEditing(bad !== "" && text !== shown);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply(text);
        else if (event.key === "Escape") {
          setText(shown);
          setBad("");
          onBad("");
        } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
          event.preventDefault();
          const next = nudged(text, event.key === "ArrowUp" ? 1 : -1);
          setText(next);
          apply(next);
        }
      }}
    />
  );
}

export function NumberRow({ label, value, unit, onApply, limits = {}, original, whole, title }: NumberProps): ReactNode {
  const id = useId();
  const [bad, setBad] = useState("");
  const { unit: shownUnit, factor } = shownAs(unit);
  const written = unitText(shownUnit);
  const edited = original !== undefined && Math.abs(original - value) > 1e-6 * Math.max(Math.abs(original), Math.abs(value));
  return (
    <>
      <div className="frow">
        <label htmlFor={id} title={title}>{label}</label>
        <NumberInput
          id={id}
          value={value}
          factor={factor}
          label={`${label}${written ? `, ${written}` : ""}`}
          edited={edited}
          check={(number) => refusal(number, limits, written, factor, whole)}
          onApply={onApply}
          onBad={setBad}
          title={title}
        />
        <span className="u">
          {written}
          {edited && <ResetDot label={label} value={`${forField(original * factor)} ${written}`} reset={() => onApply(original)} />}
        </span>
      </div>
      {bad && <p className="bad-line" role="alert">{bad}</p>}
    </>
  );
}

function ResetDot({ label, value, reset }: { label: string; value: string; reset(): void }): ReactNode {
  return (
    <button type="button" className="dot" title={`Back to ${value}`} aria-label={`${label}: back to ${value}`} onClick={reset}>
      ●
    </button>
  );
}

const LETTERS = ["x", "y", "z"];
interface VectorProps {
  label: string;
  value: readonly number[];
  unit: string | null;
  onApply(value: number[]): void;
  limits?: Limits;
  original?: readonly number[];
  letters?: readonly string[];
  title?: string;
}

export function VectorRow({ label, value, unit, onApply, limits = {}, original, letters = LETTERS, title }: VectorProps): ReactNode {
  const [bad, setBad] = useState("");
  const { unit: shownUnit, factor } = shownAs(unit);
  const written = unitText(shownUnit);
  const differs = (i: number): boolean =>
    original !== undefined && Math.abs((original[i] ?? 0) - (value[i] ?? 0)) > 1e-6 * Math.max(Math.abs(original[i] ?? 0), Math.abs(value[i] ?? 0));
  const edited = value.some((_, i) => differs(i));
  return (
    <>
      <div className="frow vechead">
        <span className="lab" title={title}>{label}</span>
        <span className="u">
          {written}
          {edited && original && (
            <ResetDot label={label} value={original.map((v) => forField(v * factor)).join(" ")} reset={() => onApply([...original])} />
          )}
        </span>
      </div>
      <div className={`vec n${value.length}`}>
        {value.map((number, i) => (
          <span key={i} data-a={letters[i] ?? String(i + 1)}>
            <NumberInput
              value={number}
              factor={factor}
              label={`${label} ${letters[i] ?? i + 1}${written ? `, ${written}` : ""}`}
              edited={differs(i)}
              check={(given) => refusal(given, limits, written, factor)}
              onApply={(given) => onApply(value.map((old, j) => (j === i ? given : old)))}
              onBad={setBad}
              title={title}
            />
          </span>
        ))}
      </div>
      {bad && <p className="bad-line" role="alert">{bad}</p>}
    </>
  );
}

export function TextRow({ label, value, onApply, title, check }: { label: string; value: string; onApply(value: string): void; title?: string; check?(text: string): string }): ReactNode {
  const id = useId();
  const [text, setText] = useState(value);
  const [bad, setBad] = useState("");
  useEffect(() => setText(value), [value]);
  const apply = (): void => {
    if (text === value) return setBad("");
    const sentence = check?.(text) ?? "";
    setBad(sentence);
    if (!sentence) onApply(text);
  };
  return (
    <>
      <div className="frow wide">
        <label htmlFor={id} title={title}>{label}</label>
        <input
          id={id}
          className={`in text ${bad ? "bad" : ""}`}
          value={text}
          title={title}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
          onBlur={apply}
          onKeyDown={(event) => event.key === "Enter" && apply()}
        />
      </div>
      {bad && <p className="bad-line" role="alert">{bad}</p>}
    </>
  );
}

export function ChoiceRow({ label, value, options, onApply, title }: { label: string; value: string; options: readonly { value: string; text: string }[]; onApply(value: string): void; title?: string }): ReactNode {
  const id = useId();
  return (
    <div className="frow wide">
      <label htmlFor={id} title={title}>{label}</label>
      <select id={id} className="sel small" value={value} title={title} onChange={(event) => onApply(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>{option.text}</option>
        ))}
      </select>
    </div>
  );
}

export function CheckRow({ label, value, onApply, title }: { label: string; value: boolean; onApply(value: boolean): void; title?: string }): ReactNode {
  const id = useId();
  return (
    <div className="frow wide">
      <label htmlFor={id} title={title}>{label}</label>
      <span className="check">
        <input id={id} type="checkbox" checked={value} title={title} onChange={(event) => onApply(event.target.checked)} />
      </span>
    </div>
  );
}
