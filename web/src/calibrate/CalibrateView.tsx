import type { ReactNode } from "react";
export default function CalibrateView(): ReactNode { return <main />; }
