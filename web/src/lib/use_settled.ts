// A value once it has not changed for a moment: what is typed is not asked of the server at
// every key.
import { useEffect, useState } from "react";

const MOMENT_MS = 250;

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(text) as Value), MOMENT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
