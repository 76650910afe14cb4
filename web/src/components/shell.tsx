// What is around every page: navigation at the left, or behind a button on a narrow screen.
import {
  AppstoreOutlined, AuditOutlined, BulbOutlined, ClusterOutlined, DashboardOutlined, DesktopOutlined, LogoutOutlined,
  MenuOutlined, SettingOutlined, TagOutlined, TeamOutlined, WalletOutlined,
} from "@ant-design/icons";
import { Button, Drawer, Skeleton } from "antd";
import { Suspense, useEffect, useRef, useState, type ReactNode } from "react";
import { Link, NavLink, Outlet, useLocation } from "react-router-dom";
import { api, answer } from "../api/client";
import { useAct } from "../api/act";
import { useSay } from "../i18n";
import type { TextKey } from "../i18n/text";
import { session } from "../session/session";
import { useMe } from "../session/me";
import { LanguageSwitch } from "./switches";
import { Live } from "./live";

interface Place {
  to: string;
  name: TextKey;
  icon: ReactNode;
}

const RENTER: Place[] = [
  { to: "/", name: "nav.overview", icon: <DashboardOutlined aria-hidden /> },
  { to: "/market", name: "nav.market", icon: <AppstoreOutlined aria-hidden /> },
  { to: "/instances", name: "nav.instances", icon: <DesktopOutlined aria-hidden /> },
  { to: "/wallet", name: "nav.wallet", icon: <WalletOutlined aria-hidden /> },
  { to: "/advisor", name: "nav.advisor", icon: <BulbOutlined aria-hidden /> },
  { to: "/settings", name: "nav.settings", icon: <SettingOutlined aria-hidden /> },
];

const OPERATOR: Place[] = [
  { to: "/operator/hosts", name: "nav.hosts", icon: <ClusterOutlined aria-hidden /> },
  { to: "/operator/prices", name: "nav.prices", icon: <TagOutlined aria-hidden /> },
  { to: "/operator/users", name: "nav.users", icon: <TeamOutlined aria-hidden /> },
  { to: "/operator/audit", name: "nav.audit", icon: <AuditOutlined aria-hidden /> },
];

function Places({ places }: { places: Place[] }) {
  const say = useSay();
  return (
    <ul className="nav">
      {places.map((place) => (
        <li key={place.to}>
          <NavLink to={place.to} end={place.to === "/"}>
            {place.icon}
            {say(place.name)}
          </NavLink>
        </li>
      ))}
    </ul>
  );
}

function Brand() {
  const say = useSay();
  return (
    <Link to="/" className="brand">
      <img src="/icon.svg" alt="" />
      {say("brand")}
    </Link>
  );
}

function Navigation() {
  const say = useSay();
  const me = useMe();
  const logout = useAct(
    () => answer(api.POST("/api/v1/auth/logout")),
    { onDone: () => session().end() },
  );
  return (
    <>
      <nav aria-label={say("nav.label")}>
        <Places places={RENTER} />
        {me?.account.role === "admin" && (
          <>
            <div className="nav-head">{say("nav.operator")}</div>
            <Places places={OPERATOR} />
          </>
        )}
      </nav>
      <div className="shell-foot">
        <LanguageSwitch />
        <div className="row apart">
          <span className="soft small wrap-anywhere">{me?.account.login}</span>
          <Button size="small" type="text" icon={<LogoutOutlined aria-hidden />} loading={logout.isPending} onClick={() => logout.mutate(undefined)}>
            {say("nav.logout")}
          </Button>
        </div>
      </div>
    </>
  );
}

export function Shell() {
  const say = useSay();
  const { pathname } = useLocation();
  const [isOpen, setOpen] = useState(false);
  const content = useRef<HTMLDivElement>(null);
  const shown = useRef(pathname);

  // A new page begins at its top, and a screen reader with its heading.
  useEffect(() => {
    setOpen(false);
    if (shown.current === pathname) return;
    shown.current = pathname;
    window.scrollTo(0, 0);
    content.current?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <div className="shell">
      <a className="skip" href="#content">{say("nav.skip")}</a>
      <aside className="shell-side">
        <Brand />
        <Navigation />
      </aside>
      <header className="shell-top">
        <Button type="text" icon={<MenuOutlined aria-hidden />} aria-label={say("nav.menu")} onClick={() => setOpen(true)} />
        <Brand />
      </header>
      <Drawer open={isOpen} onClose={() => setOpen(false)} placement="left" width={272} title={say("brand")}>
        <div className="stack" style={{ minHeight: "100%" }}>
          <Navigation />
        </div>
      </Drawer>
      <div>
        <Live />
        <main className="shell-main" id="content">
          <div className="shell-page" ref={content} tabIndex={-1}>
            <Suspense fallback={<Skeleton active />}>
              <Outlet />
            </Suspense>
          </div>
        </main>
      </div>
    </div>
  );
}
