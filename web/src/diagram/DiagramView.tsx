import type { ReactNode } from "react";
export default function DiagramView(): ReactNode { return <main />; }
