// Forms made from the JSON schemas that the server sends: a new sensor, fault or block needs no change here.
import type { ReactNode } from "react";
import { CheckRow, ChoiceRow, NumberRow, TextRow, VectorRow, type Limits } from "./fields.tsx";

export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  unit?: string;
  group?: string;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/** The schema behind references and "or nothing". */
export function resolved(schema: Schema, root: Schema): Schema {
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop()!;
    return { ...resolved(root.$defs?.[name] ?? {}, root), ...withoutRef(schema) };
  }
  if (schema.anyOf) {
    const some = schema.anyOf.map((choice) => resolved(choice, root)).filter((choice) => choice.type !== "null");
    const best = some.find((choice) => choice.type === "number" || choice.type === "integer") ?? some[0];
    if (best) return { ...best, ...withoutAny(schema) };
  }
  return schema;
}

const withoutRef = ({ $ref: _, ...rest }: Schema): Schema => rest;
const withoutAny = ({ anyOf: _, ...rest }: Schema): Schema => rest;

export function optional(schema: Schema): boolean {
  return schema.anyOf?.some((choice) => choice.type === "null") ?? false;
}

/** A name as a label: "time_constant_s" is "Time constant". */
export function labelOf(name: string): string {
  const words = name.replace(/_(s|m|hz|deg|c|ut|n|am2|kg_m3|m_s2|m_s|rad_s|rad|n_m|k|pa|ms|us|db)$/i, "").replaceAll("_", " ");
  return words ? words[0]!.toUpperCase() + words.slice(1) : name;
}

/** The unit in a name: "time_constant_s" is in s. */
export function unitOf(name: string, schema: Schema): string | null {
  if (schema.unit) return schema.unit === "1" ? null : schema.unit;
  const units: Record<string, string> = {
    _kg_m3: "kg/m3", _m_s2: "m/s2", _rad_s: "rad/s", _m_s: "m/s", _hz: "Hz", _deg: "deg", _am2: "A m2", _ut: "uT", _n_m: "N m",
    _rad: "rad", _pa: "Pa", _ms: "ms", _us: "us", _db: "dB", _c: "degC", _n: "N", _m: "m", _k: "K", _s: "s",
  };
  for (const [ending, unit] of Object.entries(units)) if (name.endsWith(ending)) return unit;
  return null;
}

export function limitsOf(schema: Schema): Limits {
  const real = (limit: number | undefined): number | undefined => (limit !== undefined && Math.abs(limit) < 1e9 ? limit : undefined);
  return { low: real(schema.minimum), high: real(schema.maximum), above: schema.exclusiveMinimum, below: schema.exclusiveMaximum };
}

interface FormProps {
  schema: Schema;
  values: Record<string, unknown>;
  original?: Record<string, unknown>;
  onApply(name: string, value: unknown): void;
  /** Stands for the unit "unit" in schemas of error chains. */
  unit?: string;
  skip?: readonly string[];
  only?: readonly string[];
}

export function SchemaForm({ schema, values, original, onApply, unit, skip = [], only }: FormProps): ReactNode {
  const names = Object.keys(schema.properties ?? {}).filter((name) => !skip.includes(name) && (!only || only.includes(name)));
  let group: string | undefined;
  return names.map((name) => {
    const field = resolved(schema.properties![name]!, schema);
    const head = field.group !== undefined && field.group !== group ? field.group : undefined;
    group = field.group ?? group;
    return (
      <div key={name}>
        {head && <div className="fhead">{head}</div>}
        <SchemaField
          name={name}
          schema={field}
          value={values[name] ?? field.default}
          original={original?.[name]}
          unit={unit}
          onApply={(value) => onApply(name, value)}
        />
      </div>
    );
  });
}

interface FieldProps {
  name: string;
  schema: Schema;
  value: unknown;
  original?: unknown;
  unit?: string;
  onApply(value: unknown): void;
}

const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === "number");

export function SchemaField({ name, schema, value, original, unit, onApply }: FieldProps): ReactNode {
  const label = schema.title && schema.title.toLowerCase() !== name.replaceAll("_", " ").toLowerCase() ? schema.title : labelOf(name);
  const own = unitOf(name, schema);
  const shown = own && unit ? own.replace(/\bunit\b/, unit) : own;
  const title = schema.description;
  const limits = limitsOf(schema.type === "array" ? (schema.items ?? schema.prefixItems?.[0] ?? {}) : schema);
  if (schema.const !== undefined) return null;
  if (schema.enum) {
    const options = schema.enum.map((choice) => ({ value: String(choice), text: labelOf(String(choice)) }));
    const chosen = (text: string): unknown => schema.enum!.find((choice) => String(choice) === text);
    return <ChoiceRow label={label} value={String(value ?? "")} options={options} title={title} onApply={(text) => onApply(chosen(text))} />;
  }
  if (schema.type === "boolean") return <CheckRow label={label} value={Boolean(value)} title={title} onApply={onApply} />;
  if (schema.type === "number" || schema.type === "integer") {
    return (
      <NumberRow
        label={label}
        value={typeof value === "number" ? value : NaN}
        unit={shown}
        limits={limits}
        original={typeof original === "number" ? original : undefined}
        whole={schema.type === "integer"}
        title={title}
        onApply={onApply}
      />
    );
  }
  if (schema.type === "array") {
    const count = schema.prefixItems?.length ?? schema.minItems;
    const items = schema.items ?? schema.prefixItems?.[0];
    const numeric = items?.type === "number" || items?.type === "integer" || items?.anyOf !== undefined;
    const given = isNumbers(value) ? value : count && numeric ? new Array<number>(count).fill(0) : null;
    if (given && given.length <= 4) {
      return <VectorRow label={label} value={given} unit={shown} limits={limits} original={isNumbers(original) ? original : undefined} title={title} onApply={onApply} />;
    }
    if (Array.isArray(value) && value.every(isNumbers)) {
      return value.map((row, i) => (
        <VectorRow
          key={i}
          label={`${label}, row ${i + 1}`}
          value={row as number[]}
          unit={shown}
          original={Array.isArray(original) && isNumbers(original[i]) ? (original[i] as number[]) : undefined}
          title={title}
          onApply={(changed) => onApply(value.map((old: unknown, j) => (j === i ? changed : old)))}
        />
      ));
    }
    return null;
  }
  if (schema.type === "string") return <TextRow label={label} value={String(value ?? "")} title={title} onApply={onApply} />;
  return null;
}

/** The values that a new table begins with: defaults, and the smallest that fits for the rest. */
export function startValues(schema: Schema): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, raw] of Object.entries(schema.properties ?? {})) {
    const field = resolved(raw, schema);
    if (field.const !== undefined) values[name] = field.const;
    else if (field.default !== undefined && field.default !== null) values[name] = field.default;
    else if (schema.required?.includes(name)) values[name] = blank(field);
  }
  return values;
}

function blank(field: Schema): unknown {
  if (field.enum) return field.enum[0];
  if (field.type === "boolean") return false;
  if (field.type === "number" || field.type === "integer") {
    if (field.maximum !== undefined && field.minimum !== undefined && field.maximum < 1e6) return (field.maximum + field.minimum) / 2;
    return field.exclusiveMinimum !== undefined ? field.exclusiveMinimum + 1 : Math.max(1, field.minimum ?? 1);
  }
  if (field.type === "array") return new Array<number>(field.prefixItems?.length ?? field.minItems ?? 3).fill(0);
  return "";
}
