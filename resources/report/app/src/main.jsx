// The report: a frame, and the page that the URL fragment names.

import { Component, render } from "preact";
import { useEffect } from "preact/hooks";
import { Loaded, Problem, useData } from "./components/load.jsx";
import { Shell } from "./components/shell.jsx";
import { loadSite, take } from "./data.js";
import Compare from "./pages/compare.jsx";
import Domain from "./pages/domain.jsx";
import Drift from "./pages/drift.jsx";
import Health from "./pages/health.jsx";
import History from "./pages/history.jsx";
import Leaderboard from "./pages/leaderboard.jsx";
import Memory from "./pages/memory.jsx";
import Papers from "./pages/papers.jsx";
import Probe from "./pages/probe.jsx";
import Probes from "./pages/probes.jsx";
import Retrieval from "./pages/retrieval.jsx";
import Run from "./pages/run.jsx";
import { go, href, useRoute } from "./route.js";
import { withModelNames } from "./site.js";

const PAGES = {
  leaderboard: { label: "Leaderboard", View: Leaderboard },
  health: { label: "Health", View: Health },
  compare: { label: "Compare", View: Compare },
  retrieval: { label: "Retrieval", View: Retrieval },
  papers: { label: "Papers", View: Papers },
  drift: { label: "Drift", View: Drift },
  history: { label: "History", View: History },
  probes: { label: "Probes", View: Probes },
  probe: { View: Probe, within: "probes" },
  memory: { label: "Memory", View: Memory },
  domain: { label: "Domains", View: Domain },
  run: { label: "Runs", View: Run },
};
const NAVIGATION = Object.entries(PAGES).flatMap(([page, { label }]) => (label ? [{ page, label }] : []));
const HOME = { href: href("leaderboard"), label: "Go to the leaderboard" };

function Report() {
  const { page, params: linked } = useRoute();
  const site = useData(loadSite, []);
  const params = withModelNames(linked, site.value?.models ?? {});
  const known = Object.hasOwn(PAGES, page) ? PAGES[page] : null;
  useEffect(() => {
    document.title = [known?.label ?? page, site.value?.title ?? "memflow report"].join(" · ");
  }, [page, site.value]);
  useEffect(() => scrollTo(0, 0), [page]);
  return (
    <Shell site={site.value} pages={NAVIGATION} current={known?.within ?? page} params={params}>
      <Loaded state={site}>
        {(value) =>
          known ? (
            <Boundary key={page} state={params}>
              <known.View key={page} site={value} params={params} go={go} />
            </Boundary>
          ) : (
            <Problem link={HOME}>This report has no page {page}.</Problem>
          )
        }
      </Loaded>
    </Shell>
  );
}

class Boundary extends Component {
  static getDerivedStateFromError(error) {
    return { error };
  }

  componentDidUpdate(former) {
    if (former.state !== this.props.state && this.state.error) {
      this.setState({ error: null });
    }
  }

  render({ children }, { error }) {
    return error ? <Problem link={HOME}>This page cannot be shown: {error.message}</Problem> : children;
  }
}

globalThis.memflow = { take };
addEventListener("DOMContentLoaded", () => render(<Report />, document.getElementById("app")));
