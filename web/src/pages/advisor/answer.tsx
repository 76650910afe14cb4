// The pieces of an answer.
import { useQuery } from "@tanstack/react-query";
import { Collapse, Form } from "antd";
import type { ReactNode } from "react";
import { Link } from "react-router-dom";
import { queries } from "../../api/queries";
import { Panel, ProblemAlert } from "../../components/basics";
import { DataTable } from "../../components/data_table";
import { useSay } from "../../i18n";

/** What is asked at the left, what comes of it at the right, or below. */
export function Topic({ form, error, children }: { form: ReactNode; error: unknown; children: ReactNode }) {
  return (
    <div className="columns advice">
      <Panel><Form layout="vertical" component="div">{form}</Form></Panel>
      <div className="stack" aria-live="polite">
        {error ? <div className="card"><ProblemAlert error={error} /></div> : children}
      </div>
    </div>
  );
}

export function Conclusion({ sentence, children }: { sentence: string; children?: ReactNode }) {
  const say = useSay();
  return (
    <Panel title={say("advisor.answer")}>
      <p className="conclusion">{sentence}</p>
      {children}
    </Panel>
  );
}

export function Sentences({ title, items }: { title: string; items: string[] }) {
  if (!items.length) return null;
  return (
    <Panel title={title}>
      <ul className="bullets">{items.map((item) => <li key={item}>{item}</li>)}</ul>
    </Panel>
  );
}

export function Formulas({ formulas }: { formulas: { name: string; formula: string }[] }) {
  const say = useSay();
  if (!formulas.length) return null;
  return (
    <div className="card flush">
      <Collapse
        ghost
        items={[{
          key: "how",
          label: say("advisor.how"),
          children: (
            <DataTable
              label={say("advisor.how")}
              rows={formulas}
              rowKey={(each) => each.name}
              columns={[
                { name: say("advisor.what"), value: (each) => each.name },
                { name: say("advisor.formula"), value: (each) => <span className="figure wrap-anywhere">{each.formula}</span> },
              ]}
            />
          ),
        }]}
      />
    </div>
  );
}

export function shapeText(cards: number, name: string): string {
  return `${cards} × ${name}`;
}

/** Whether a host here has so many cards of a model at all, free or not. */
export function useIsHere(): (shape: { gpu_model: string; cards: number }) => boolean {
  const offers = useQuery(queries.offers()).data ?? [];
  return ({ gpu_model, cards }) => offers.some((offer) => offer.model === gpu_model && offer.cards_total >= cards);
}

/** What can be rented here before what cannot; else as it was. */
export function hereFirst<Row extends { gpu_model: string; cards: number }>(rows: Row[], isHere: (row: Row) => boolean): Row[] {
  return [...rows.filter(isHere), ...rows.filter((row) => !isHere(row))];
}

/** To the create form with this shape, where there is such a host. */
export function RentLink({ model, name, cards }: { model: string; name: string; cards: number }) {
  const say = useSay();
  const isHere = useIsHere();
  if (!isHere({ gpu_model: model, cards })) return <span className="soft small nowrap">{say("advisor.not_here")}</span>;
  return (
    <Link
      to={`/instances/new?model=${encodeURIComponent(model)}&count=${cards}`}
      aria-label={say("advisor.rent.what", { shape: shapeText(cards, name) })}
    >
      {say("advisor.rent")}
    </Link>
  );
}
