// Buttons, switches, segments and menus.
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Caret } from "./icons.tsx";

interface ButtonProps {
  children?: ReactNode;
  onClick?: () => void;
  className?: string;
  /** Why it cannot be used now; shown as a tip. */
  missing?: string;
  title?: string;
  label?: string;
  pressed?: boolean;
  id?: string;
}

export function Button({ children, onClick, className = "", missing, title, label, pressed, id }: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      id={id}
      className={`btn ${className}`}
      aria-disabled={missing ? true : undefined}
      aria-pressed={pressed}
      aria-label={label}
      title={missing ?? title}
      onClick={missing ? undefined : onClick}
    >
      {children}
    </button>
  );
}

export function Switch({ on, onChange, label, children }: { on: boolean; onChange(on: boolean): void; label: string; children?: ReactNode }): ReactNode {
  return (
    <button type="button" className="sw" role="switch" aria-checked={on} aria-label={label} onClick={() => onChange(!on)}>
      <i />
      {children}
    </button>
  );
}

interface SegmentProps<T extends string> {
  label: string;
  options: readonly { value: T; text: ReactNode; name?: string; missing?: string }[];
  value: T;
  onChange(value: T): void;
  small?: boolean;
  className?: string;
}

export function Segment<T extends string>({ label, options, value, onChange, small, className = "" }: SegmentProps<T>): ReactNode {
  return (
    <span className={`seg ${small ? "small" : ""} ${className}`} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          aria-label={option.name}
          aria-disabled={option.missing ? true : undefined}
          title={option.missing ?? option.name}
          onClick={() => !option.missing && onChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </span>
  );
}

export interface MenuItem {
  text: ReactNode;
  detail?: ReactNode;
  run?: () => void;
  checked?: boolean;
  rule?: boolean; // a line before it
  head?: boolean; // a heading, not a choice
}

interface MenuProps {
  children: ReactNode;
  items: readonly MenuItem[] | (() => readonly MenuItem[]);
  label: string;
  className?: string;
  missing?: string;
  id?: string;
}

/** A button that opens a list of choices. Arrow keys move, Escape closes. */
export function Menu({ children, items, label, className = "sel small", missing, id }: MenuProps): ReactNode {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button
        ref={button}
        id={id}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        aria-disabled={missing ? true : undefined}
        title={missing}
        onClick={() => !missing && setOpen(!open)}
      >
        {children}
        {!className.includes("ico") && <Caret />}
      </button>
      {open && (
        <MenuList
          anchor={button.current!}
          items={typeof items === "function" ? items() : items}
          label={label}
          close={() => {
            setOpen(false);
            button.current?.focus();
          }}
        />
      )}
    </>
  );
}

function MenuList({ anchor, items, label, close }: { anchor: HTMLElement; items: readonly MenuItem[]; label: string; close(): void }): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = list.current!;
    const box = anchor.getBoundingClientRect();
    menu.style.minWidth = `${Math.min(box.width, 320)}px`;
    const below = innerHeight - box.bottom - 10;
    const up = menu.offsetHeight > below && box.top > below;
    menu.style.maxHeight = `${Math.max(120, (up ? box.top : below) - 8)}px`;
    menu.style.top = up ? `${Math.max(4, box.top - menu.offsetHeight - 4)}px` : `${box.bottom + 4}px`;
    menu.style.left = `${Math.max(4, Math.min(box.left, innerWidth - menu.offsetWidth - 6))}px`;
    (menu.querySelector<HTMLElement>("[aria-checked=true]") ?? menu.querySelector("button"))?.focus();
  }, [anchor]);
  useEffect(() => {
    const away = (event: PointerEvent): void => {
      const target = event.target as Node;
      if (!list.current?.contains(target) && !anchor.contains(target)) close();
    };
    document.addEventListener("pointerdown", away, true);
    return () => document.removeEventListener("pointerdown", away, true);
  }, [anchor, close]);
  const keys = (event: React.KeyboardEvent): void => {
    const buttons = [...list.current!.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const go = (i: number): void => buttons[(i + buttons.length) % buttons.length]?.focus();
    if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(-1);
    else if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key.length === 1) {
      const wanted = event.key.toLowerCase();
      const next = [...buttons.slice(at + 1), ...buttons].find((b) => b.textContent?.toLowerCase().startsWith(wanted));
      next?.focus();
    } else return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
  };
  return createPortal(
    <div className="menu" role="menu" aria-label={label} ref={list} onKeyDown={keys}>
      {items.map((item, i) => (
        <div key={i} role="none">
          {item.rule && <hr />}
          {item.head ? (
            <h3 role="presentation">{item.text}</h3>
          ) : (
            <button
              type="button"
              role={item.checked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.checked}
              tabIndex={-1}
              onClick={() => {
                close();
                item.run?.();
              }}
            >
              {item.text}
              {item.detail !== undefined && <span>{item.detail}</span>}
            </button>
          )}
        </div>
      ))}
    </div>,
    document.body,
  );
}
