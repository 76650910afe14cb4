import { expect, it } from "vitest";
import { copyCommand, hostAlias, sshConfig } from "./connect";

const to = {
  host: "gpu.example.org", port: 22001, user: "root", password: "", host_key_fingerprint: "", known_hosts_line: "", ssh_command: "",
};

it("names the host in ~/.ssh/config after the instance, unless SSH would not take the name", () => {
  expect(hostAlias("train-7b", "i1")).toBe("train-7b");
  expect(hostAlias("训练", "i1")).toBe("i1");
  expect(hostAlias("a b", "i1")).toBe("i1");
  expect(sshConfig("train", to)).toBe("Host train\n  HostName gpu.example.org\n  Port 22001\n  User root");
});

it("copies to the data disk, also over IPv6", () => {
  expect(copyCommand(to)).toContain('-e "ssh -p 22001" ./folder/ root@gpu.example.org:/root/data/folder/');
  expect(copyCommand({ ...to, host: "2001:db8::1" })).toContain("root@[2001:db8::1]:/root/data/folder/");
});
