import { createRoot } from "react-dom/client";
import { Console } from "./app";
import { startLanguage } from "./i18n";
import { giveStylesTheNonce } from "./lib/csp_nonce";
import "./styles.css";
import { startTheme } from "./theme";

giveStylesTheNonce();
startTheme();
startLanguage();
createRoot(document.getElementById("root")!).render(<Console />);
