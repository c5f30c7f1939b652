// The frame of every page: title, navigation, theme, footer.

import { useEffect, useState } from "preact/hooks";
import { moment } from "../format.js";
import { href } from "../route.js";
import { isScripted } from "../site.js";
import { SCRIPTED, Tag } from "./tag.jsx";

const THEMES = ["auto", "light", "dark"];
const STORED = "memflow.theme";

/** `pages`: `[{page, label}]` of the navigation. The domain and assistant chosen are carried from page to page. */
export function Shell({ site, pages, current, params, children }) {
  const carried = { domain: params.domain };
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main").focus();
        }}
      >
        Skip to content
      </a>
      <header class="top">
        <p class="title">
          <a href={href("leaderboard")}>{site?.title ?? "memflow report"}</a>
          {site && isScripted(site, params) && (
            <Tag kind="warn" text={SCRIPTED}>
              scripted chat
            </Tag>
          )}
          {site?.as_of && (
            <Tag text="The results are those of an earlier moment, not the present ones.">as of {moment(site.as_of)}</Tag>
          )}
        </p>
        <nav aria-label="Pages">
          {pages.map(({ page, label }) => (
            <a key={page} href={href(page, carried)} aria-current={page === current ? "page" : null}>
              {label}
            </a>
          ))}
        </nav>
        <Theme />
      </header>
      <main id="main" tabindex={-1}>
        {children}
      </main>
      {site && (
        <footer>
          {site.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
          <p>
            Built by memflow {site.memflow} on <time dateTime={site.created}>{moment(site.created)}</time>. Intervals are
            95 % confidence intervals.
          </p>
        </footer>
      )}
    </>
  );
}

function Theme() {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(STORED, theme);
    } catch {
      // A browser may refuse storage to local files: the theme then lasts as long as the page.
    }
  }, [theme]);
  return (
    <fieldset class="theme">
      <legend>Theme</legend>
      {THEMES.map((name) => (
        <label key={name}>
          <input type="radio" name="theme" checked={theme === name} onChange={() => setTheme(name)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function storedTheme() {
  try {
    const theme = localStorage.getItem(STORED);
    return THEMES.includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}
