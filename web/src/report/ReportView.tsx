import type { ReactNode } from "react";
export default function ReportView(): ReactNode { return <main />; }
