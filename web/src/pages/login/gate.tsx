// The frame of what one sees before logging in.
import type { ReactNode } from "react";
import { LanguageSwitch } from "../../components/switches";
import { useSay } from "../../i18n";

export function Gate({ title, children }: { title: string; children: ReactNode }) {
  const say = useSay();
  return (
    <div className="gate">
      <main>
        <div className="row apart">
          <span className="brand" style={{ padding: 0 }}>
            <img src="/icon.svg" alt="" />
            {say("brand")}
          </span>
          <LanguageSwitch />
        </div>
        <div className="card stack">
          <div>
            <h1>{title}</h1>
            <p className="soft">{say("brand.tagline")}</p>
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}
