// The small pieces that every page is made of.
import { Alert, Button, Skeleton, Tooltip } from "antd";
import type { ReactNode } from "react";
import { Problem } from "../api/problem";
import { useSay } from "../i18n";
import { formatMoment, formatUtc } from "../lib/time";

/** A page: its one heading, what can be done, and the content. */
export function Page({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <div className="stack">
      <div className="row apart">
        <h1>{title}</h1>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A framed part of a page. `flush`: its content reaches the frame, as tables do. */
export function Panel(props: { title?: ReactNode; actions?: ReactNode; flush?: boolean; children: ReactNode }) {
  return (
    <section className={props.flush ? "card flush" : "card"}>
      {(props.title || props.actions) && (
        <div className="card-head">
          <h2>{props.title}</h2>
          {props.actions}
        </div>
      )}
      {props.children}
    </section>
  );
}

export type Tone = "calm" | "good" | "busy" | "warn" | "bad";

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** The mark on everything that is simulated. */
export function Simulated() {
  const say = useSay();
  return (
    <Tooltip title={say("simulated.what")}>
      <span className="badge plain warn">{say("simulated")}</span>
    </Tooltip>
  );
}

/** A moment in the browser's zone; UTC when one points at it. */
export function Moment({ at }: { at: string }) {
  return (
    <Tooltip title={formatUtc(at)}>
      <time className="figure" dateTime={at}>{formatMoment(at)}</time>
    </Tooltip>
  );
}

export interface Fact {
  name: ReactNode;
  value: ReactNode;
}

export function Facts({ facts }: { facts: (Fact | false | undefined)[] }) {
  return (
    <dl className="facts">
      {facts.filter((fact) => !!fact).map((fact, index) => (
        <div key={index}>
          <dt>{fact.name}</dt>
          <dd>{fact.value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Stat({ name, value, note }: { name: ReactNode; value: ReactNode; note?: ReactNode }) {
  return (
    <dl className="card stat">
      <dt>{name}</dt>
      <dd>
        {value}
        {note && <div className="note">{note}</div>}
      </dd>
    </dl>
  );
}

/** What happened and what to do, of anything that was thrown. */
export function ProblemAlert({ error, title, onRetry }: { error: unknown; title?: string; onRetry?: () => void }) {
  const say = useSay();
  const problem = error instanceof Problem ? error : undefined;
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      message={problem?.detail ?? title ?? say("problem.title")}
      description={problem?.next ?? (problem ? undefined : String(error))}
      action={onRetry && <Button size="small" onClick={onRetry}>{say("act.retry")}</Button>}
    />
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  refetch(): unknown;
}

/** What was asked of the server, or that it is on its way, or why it did not come. */
export function Loaded<T>({ query, children }: { query: Asked<T>; children: (data: T) => ReactNode }) {
  const say = useSay();
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) {
    return (
      <div className="card">
        <ProblemAlert error={query.error} title={say("problem.load")} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  return <div className="card" aria-busy="true"><Skeleton active title={false} paragraph={{ rows: 4 }} /></div>;
}

export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}
