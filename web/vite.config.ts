import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` serves the sources here and asks a running `cardhour serve` for everything else.
const server = process.env.CARDHOUR_SERVER ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  server: { proxy: { "/api": { target: server, ws: true } } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the page's policy takes nothing from data: but images
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true, // which files the first load takes: scripts/size.mjs
  },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
