// A text that one wants to have elsewhere: shown as it is, with a button that copies it.
import { CheckOutlined, CopyOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useEffect, useRef, useState } from "react";
import { useSay } from "../i18n";

const SHOWN_MS = 1500;

/** Where the page is plain http on another machine, browsers have no clipboard: select it then. */
async function copy(text: string, shown: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) window.getSelection()?.selectAllChildren(shown);
    return document.execCommand("copy");
  }
}

export function CopyField({ text, name, secret = false }: { text: string; name: string; secret?: boolean }) {
  const say = useSay();
  const shown = useRef<HTMLPreElement>(null);
  const [copied, setCopied] = useState(false);
  const [revealed, setRevealed] = useState(!secret);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <div className="copy-field">
      <pre ref={shown} aria-label={name}>{revealed ? text : "••••••••••••"}</pre>
      {secret && (
        <Button size="small" type="text" onClick={() => setRevealed(!revealed)}>
          {revealed ? say("act.hide") : say("act.show")}
        </Button>
      )}
      <Button
        size="small"
        icon={copied ? <CheckOutlined aria-hidden /> : <CopyOutlined aria-hidden />}
        aria-label={say("act.copy.of", { what: name })}
        onClick={() => void copy(text, shown.current).then(setCopied)}
      >
        <span aria-live="polite">{copied ? say("act.copied") : say("act.copy")}</span>
      </Button>
    </div>
  );
}
