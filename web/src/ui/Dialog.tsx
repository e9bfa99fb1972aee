// A dialog in the middle of the page. The focus stays in it; Escape closes it.
import { useEffect, useId, useRef, type ReactNode } from "react";
import { createPortal } from "react-dom";

export function Dialog({ title, close, children }: { title: string; close(): void; children: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.querySelector<HTMLElement>("button, a, input")?.focus();
    return () => before?.focus();
  }, []);
  const keys = (event: React.KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Escape") return close();
    if (event.key !== "Tab") return;
    const all = [...box.current!.querySelectorAll<HTMLElement>("button, a[href], input, select, [tabindex='0']")];
    const first = all[0];
    const last = all.at(-1);
    if (event.shiftKey && document.activeElement === first) {
      event.preventDefault();
      last?.focus();
    } else if (!event.shiftKey && document.activeElement === last) {
      event.preventDefault();
      first?.focus();
    }
  };
  return createPortal(
    <div className="dialog-back" onPointerDown={(e) => e.target === e.currentTarget && close()}>
      <div className="dialog" role="dialog" aria-modal="true" aria-labelledby={id} ref={box} onKeyDown={keys}>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </div>,
    document.body,
  );
}
