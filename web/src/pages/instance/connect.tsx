// How to get in.
import { CodeOutlined } from "@ant-design/icons";
import { Collapse } from "antd";
import type { ReactNode } from "react";
import type { InstanceView } from "../../api/types";
import { Panel } from "../../components/basics";
import { CopyField } from "../../components/copy_field";
import { LinkButton } from "../../components/link_button";
import { useSay } from "../../i18n";

type Connection = NonNullable<InstanceView["connection"]>;

/** A name that an SSH configuration takes. */
export function hostAlias(name: string, id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) ? name : id;
}

export function sshConfig(alias: string, to: Connection): string {
  return `Host ${alias}\n  HostName ${to.host}\n  Port ${to.port}\n  User ${to.user}`;
}

export function copyCommand(to: Connection): string {
  const host = to.host.includes(":") ? `[${to.host}]` : to.host;
  return `rsync -avP -e "ssh -p ${to.port}" ./folder/ ${to.user}@${host}:/root/data/folder/`;
}

function Labelled({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <div className="soft small" style={{ marginBottom: 4 }}>{name}</div>
      {children}
    </div>
  );
}

export function Connect({ view }: { view: InstanceView }) {
  const say = useSay();
  const isRunning = view.observed === "running";
  const to = view.connection;
  if (!to) {
    return (
      <Panel title={say("connect.title")}>
        <p className="soft">{say(isRunning ? "connect.none" : "connect.not_running")}</p>
      </Panel>
    );
  }
  const field = (name: string, text: string, secret = false) => (
    <Labelled name={name}><CopyField name={name} text={text} secret={secret} /></Labelled>
  );
  return (
    <Panel
      title={say("connect.title")}
      actions={isRunning && (
        <LinkButton to={`/instances/${view.id}/terminal`} icon={<CodeOutlined aria-hidden />}>{say("connect.terminal")}</LinkButton>
      )}
    >
      <div className="stack tight">
        {field(say("connect.command"), to.ssh_command)}
        {field(say("connect.password"), to.password, true)}
        {field(say("connect.copy_files"), copyCommand(to))}
        <Collapse
          ghost
          size="small"
          items={[{
            key: "more",
            label: say("connect.more"),
            children: (
              <div className="stack tight">
                {field(say("connect.config"), sshConfig(hostAlias(view.name, view.id), to))}
                {field(say("connect.fingerprint"), to.host_key_fingerprint)}
                {field(say("connect.known_hosts"), to.known_hosts_line)}
              </div>
            ),
          }]}
        />
      </div>
    </Panel>
  );
}
