// Logging in: the answer has one secret, the cookie that comes with it the other.
import { api, answer } from "../api/client";
import { session } from "./session";

export async function logIn(login: string, password: string): Promise<void> {
  const made = await answer(api.POST("/api/v1/auth/browser-login", { body: { login, password } }));
  session().begin(made.header_secret);
}
