import type { ReactNode } from "react";
export function Chooser(): ReactNode { return <main />; }
