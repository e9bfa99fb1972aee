import type { ReactNode } from "react";
import { dismiss, spoken, toasts } from "../state/toasts.ts";
import { useStore } from "../state/store.ts";
import { Button } from "./controls.tsx";
import { Cross, StateIcon } from "./icons.tsx";

export function Toasts(): ReactNode {
  const list = useStore(toasts, (t) => t.list);
  return (
    <div className="toasts">
      {list.map(({ id, level, title, text, action }) => (
        <div key={id} className={`toast ${level}`}>
          <StateIcon state={level === "error" ? "err" : level} />
          <div className="grow">
            <b>{title}</b>
            {text && <p>{text}</p>}
            {action && (action.href ? <a href={action.href} download={action.download}>{action.label}</a> : <Button className="quiet small" onClick={action.run}>{action.label}</Button>)}
          </div>
          <Button className="quiet small ico" label={`Dismiss: ${title}`} onClick={() => dismiss(id)}><Cross /></Button>
        </div>
      ))}
    </div>
  );
}

/** What screen readers are given: one polite region, one for what cannot wait. */
export function Spoken(): ReactNode {
  const polite = useStore(spoken, (s) => s.polite);
  const assertive = useStore(spoken, (s) => s.assertive);
  return (
    <>
      <div className="sr" role="status" aria-live="polite">{polite}</div>
      <div className="sr" role="alert" aria-live="assertive">{assertive}</div>
    </>
  );
}
