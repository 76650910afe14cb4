import { expect, it } from "vitest";
import { problemOf } from "./problem";

it("takes what happened and what to do from a problem document", () => {
  const problem = problemOf(409, { code: "no_capacity", detail: "no card is free", next: "choose another", field: "gpu_model" });
  expect([problem.code, problem.detail, problem.next, problem.field]).toEqual(
    ["no_capacity", "no card is free", "choose another", "gpu_model"]);
  expect(problem.isPassing).toBe(false);
});

it("says what it can of an answer that is none", () => {
  expect(problemOf(502, "<html>").code).toBe("unreadable");
  expect(problemOf(502, null).isPassing).toBe(true);
});
