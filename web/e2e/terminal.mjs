export const engines = ["incus"];
