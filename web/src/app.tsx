// The console as a whole: what every page may use, and which address is which page. Pages are
// loaded when they are first seen.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { App as AntApp, ConfigProvider, Result } from "antd";
import enUS from "antd/locale/en_US";
import zhCN from "antd/locale/zh_CN";
import { Component, lazy, useEffect, type ReactNode } from "react";
import { BrowserRouter, Link, Navigate, Outlet, Route, Routes, useLocation } from "react-router-dom";
import { Problem } from "./api/problem";
import { ErrorPage } from "./components/error_page";
import { Shell } from "./components/shell";
import { useLanguage, useSay } from "./i18n";
import { nonce } from "./lib/csp_nonce";
import { LoginPage } from "./pages/login/login_page";
import { RegisterPage } from "./pages/login/register_page";
import { useMe, useSession } from "./session/me";
import { antdTheme, useIsDark } from "./theme";

const Overview = lazy(() => import("./pages/overview/overview_page"));
const Market = lazy(() => import("./pages/market/market_page"));
const Instances = lazy(() => import("./pages/instances/instances_page"));
const Create = lazy(() => import("./pages/instances/create_page"));
const Instance = lazy(() => import("./pages/instance/instance_page"));
const Terminal = lazy(() => import("./pages/terminal/terminal_page"));
const Wallet = lazy(() => import("./pages/wallet/wallet_page"));
const Advisor = lazy(() => import("./pages/advisor/advisor_page"));
const Settings = lazy(() => import("./pages/settings/settings_page"));
const Hosts = lazy(() => import("./pages/operator/hosts_page"));
const Prices = lazy(() => import("./pages/operator/prices_page"));
const Users = lazy(() => import("./pages/operator/users_page"));
const Audit = lazy(() => import("./pages/operator/audit_page"));

const RETRIES = 2;

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < RETRIES && error instanceof Problem && error.isPassing,
    },
  },
});

/** Pages behind the login; without one, to it and back again. */
function Guarded() {
  const state = useSession();
  const location = useLocation();
  const language = useLanguage();
  useEffect(() => {
    // What one account saw is not kept for the next.
    if (state !== "in") cache.removeQueries({ predicate: (query) => query.queryKey[0] !== "version" });
  }, [state]);
  useEffect(() => {
    void cache.invalidateQueries(); // some texts are the server's
  }, [language]);
  if (state === "restoring") return null;
  if (state === "out") {
    return <Navigate to="/login" replace state={{ from: location.pathname + location.search }} />;
  }
  return <Shell />;
}

/** The operator's pages say so to others; the server refuses them anyway. */
function OperatorOnly() {
  const me = useMe();
  if (!me) return null;
  return me.account.role === "admin" ? <Outlet /> : <Missing />;
}

function Missing() {
  const say = useSay();
  return (
    <Result
      status="404"
      icon={null}
      title={<h1>{say("missing.title")}</h1>}
      subTitle={say("missing.text")}
      extra={<Link to="/">{say("missing.home")}</Link>}
    />
  );
}

function Pages() {
  return (
    <Routes>
      <Route path="/login" element={<LoginPage />} />
      <Route path="/register" element={<RegisterPage />} />
      <Route element={<Guarded />}>
        <Route index element={<Overview />} />
        <Route path="market" element={<Market />} />
        <Route path="instances" element={<Instances />} />
        <Route path="instances/new" element={<Create />} />
        <Route path="instances/:id" element={<Instance />} />
        <Route path="instances/:id/terminal" element={<Terminal />} />
        <Route path="wallet" element={<Wallet />} />
        <Route path="advisor" element={<Advisor />} />
        <Route path="settings" element={<Settings />} />
        <Route path="operator" element={<OperatorOnly />}>
          <Route path="hosts" element={<Hosts />} />
          <Route path="prices" element={<Prices />} />
          <Route path="users" element={<Users />} />
          <Route path="audit" element={<Audit />} />
        </Route>
        <Route path="*" element={<Missing />} />
      </Route>
    </Routes>
  );
}

class Boundary extends Component<{ children: ReactNode }, { broke: boolean }> {
  override state = { broke: false };
  static getDerivedStateFromError = () => ({ broke: true });
  override render() {
    return this.state.broke ? <ErrorPage /> : this.props.children;
  }
}

export function Console() {
  const isDark = useIsDark();
  const isChinese = useLanguage() === "zh";
  return (
    <ConfigProvider csp={{ nonce }} theme={antdTheme(isDark)} locale={isChinese ? zhCN : enUS}
      button={{ autoInsertSpace: false }}>
      <AntApp>
        <QueryClientProvider client={cache}>
          <Boundary>
            <BrowserRouter>
              <Pages />
            </BrowserRouter>
          </Boundary>
        </QueryClientProvider>
      </AntApp>
    </ConfigProvider>
  );
}

