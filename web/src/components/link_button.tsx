// A link that looks like a button: it can be opened in a new tab, and stays one page load.
import { Button } from "antd";
import type { ReactNode } from "react";
import { useHref, useNavigate } from "react-router-dom";

export function LinkButton(props: { to: string; children: ReactNode; icon?: ReactNode; type?: "primary" | "default" }) {
  const navigate = useNavigate();
  return (
    <Button
      type={props.type ?? "primary"}
      icon={props.icon}
      href={useHref(props.to)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        navigate(props.to);
      }}
    >
      {props.children}
    </Button>
  );
}
